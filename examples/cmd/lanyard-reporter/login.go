package main

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// become replaces this process by one of the same program. The thread that calls it is the one that stays.
func become(args, env []string) error {
	return syscall.Exec("/proc/self/exe", append(os.Args[:1:1], args...), env)
}

// environment becomes what stands behind the variables.
func environment(args []string) error {
	env := os.Environ()
	for len(args) > 0 && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	if len(args) == 0 {
		return errors.New("env: a program is missing")
	}
	return syscall.Exec(args[0], args, env)
}

// login sets the login UID, with which the kernel gives a new audit session: of one thread, which becomes the rest.
func login(uid string, rest []string) error {
	runtime.LockOSThread()
	if err := os.WriteFile("/proc/thread-self/loginuid", []byte(uid), 0); err != nil {
		return err
	}
	return become(rest, os.Environ())
}
