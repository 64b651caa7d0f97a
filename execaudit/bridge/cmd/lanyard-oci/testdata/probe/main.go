//go:build linux

// Command probe is the only program in the tests' containers. Each argument is a thing to do, in order:
//
//	report    one line of JSON: its arguments, environment and the kernel's mark
//	fork      the rest in a child, awaited
//	setsid    the rest in a child in a session of its own
//	orphan    the rest in a grandchild whose parent ends first
//	login=N   writes a login UID, and tells what came of it
//	uid=N     becomes user N, without capabilities
//	exit=N    ends with a code
//	wait      waits for a line or the end of standard input
//	forever   waits for a signal
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	runtime.LockOSThread()
	for i, word := range os.Args[1:] {
		verb, value, _ := strings.Cut(word, "=")
		number, _ := strconv.Atoi(value)
		rest := os.Args[i+2:]
		switch verb {
		case "report":
			report()
		case "fork":
			child(rest, nil)
			return
		case "setsid":
			child(rest, &syscall.SysProcAttr{Setsid: true})
			return
		case "orphan":
			orphan(rest)
			return
		case "login":
			err := os.WriteFile("/proc/self/loginuid", []byte(value), 0)
			fmt.Printf("{\"login\":%q}\n", fmt.Sprint(err))
		case "uid":
			if err := syscall.Setuid(number); err != nil {
				fmt.Println(err)
			}
			syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 1, 0) // or /proc/self stays root's
		case "exit":
			os.Exit(number)
		case "wait":
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		case "forever":
			ended := make(chan os.Signal, 1)
			signal.Notify(ended, syscall.SIGTERM)
			fmt.Println("ready")
			<-ended
			return
		}
	}
}

func report() {
	login, _ := os.ReadFile("/proc/self/loginuid")
	session, _ := os.ReadFile("/proc/self/sessionid")
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"args": os.Args, "env": os.Environ(), "loginUID": string(login), "sessionID": string(session), "ppid": os.Getppid(),
	})
}

func child(args []string, attr *syscall.SysProcAttr) {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	if err := cmd.Run(); err != nil {
		fmt.Println(err)
	}
}

// orphan leaves a grandchild whose parent has ended, and waits until it has written.
func orphan(args []string) {
	if os.Getenv("PROBE_PARENT") == "" {
		read, write, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		cmd := exec.Command("/proc/self/exe", append([]string{"orphan"}, args...)...)
		cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = append(os.Environ(), "PROBE_PARENT=1"), os.Stdout, os.Stderr, []*os.File{write}
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
		}
		write.Close()
		_, _ = read.Read(make([]byte, 1)) // until the grandchild has ended
		return
	}
	os.Unsetenv("PROBE_PARENT")
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{os.NewFile(3, "pipe")}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
	}
}
