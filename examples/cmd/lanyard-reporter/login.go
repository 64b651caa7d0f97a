package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// descend starts processes that leave this one in each way that there is. All of them hold on its standard input.
//
//	child    an ordinary child
//	session  in a session of its own
//	daemon   forked twice, each time into a session of its own; its parent is gone
//	sibling  cloned with CLONE_PARENT
//	bare     a child with an empty environment
//	uid=UID  a child that sets that login UID
func descend(ways []string) error {
	if err := printReport(); err != nil {
		return err
	}
	for _, way := range ways {
		args, attr := []string{"hold", way}, &syscall.SysProcAttr{}
		switch how, uid, _ := strings.Cut(way, "="); how {
		case "child":
		case "session":
			attr.Setsid = true
		case "daemon":
			args, attr.Setsid = append([]string{"leave"}, args...), true
		case "sibling":
			attr.Cloneflags = syscall.CLONE_PARENT
		case "bare":
			args = append([]string{"bare"}, args...)
		case "uid":
			args = append([]string{"loginuid", uid}, args...)
		default:
			return fmt.Errorf("descend: unknown way %q", way)
		}
		if err := start(args, attr); err != nil {
			return err
		}
	}
	return hold()
}

// start starts this program with the streams of this process, and nobody waits for it.
func start(args []string, attr *syscall.SysProcAttr) error {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	return cmd.Start()
}
