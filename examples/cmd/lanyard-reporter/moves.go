package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// descend starts processes that leave this one in each way that there is. All of them hold on its standard input, with
// the way as the last word of their command. A way is one of the first column's, or several with commas between:
//
//	child       an ordinary child
//	session     in a session of its own
//	daemon      forked twice, each time into a session of its own; its parent is gone
//	triple      forked three times so
//	sibling     cloned with CLONE_PARENT
//	bare        with an empty environment
//	as=ID       with that audit ID in its environment
//	env=N=V     with that variable in its environment
//	uid=UID     sets that login UID
//	name=TEXT   nothing: whoever looks at command lines knows it by that
func descend(ways []string) error {
	if err := printReport(); err != nil {
		return err
	}
	for _, way := range ways {
		args, attr, err := move(way)
		if err != nil {
			return err
		}
		if err := start(args, attr); err != nil {
			return err
		}
	}
	return hold()
}

// move returns what to start for a way. Of several words the last is the first that the process does.
func move(way string) (args []string, attr *syscall.SysProcAttr, err error) {
	args, attr = []string{"hold", way}, &syscall.SysProcAttr{}
	first := func(words ...string) { args = slices.Concat(words, args) }
	for word := range strings.SplitSeq(way, ",") {
		switch how, value, _ := strings.Cut(word, "="); how {
		case "child", "name":
		case "session":
			attr.Setsid = true
		case "daemon":
			attr.Setsid = true
			first("leave")
		case "triple":
			attr.Setsid = true
			first("leave", "leave")
		case "sibling":
			attr.Cloneflags = syscall.CLONE_PARENT
		case "bare":
			first("bare")
		case "as":
			first("forge", value)
		case "env":
			first("env", value, "/proc/self/exe")
		case "uid":
			first("loginuid", value)
		default:
			return nil, nil, fmt.Errorf("descend: unknown way %q", way)
		}
	}
	return args, attr, nil
}

// start starts this program with the streams of this process, and nobody waits for it.
func start(args []string, attr *syscall.SysProcAttr) error {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	return cmd.Start()
}

// each starts a child for each line of standard input, with the line as the last word of its command. They report, and
// hold until this process ends.
func each() error {
	if err := printReport(); err != nil {
		return err
	}
	held, gate, err := os.Pipe()
	if err != nil {
		return err
	}
	defer gate.Close()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		cmd := exec.Command("/proc/self/exe", "hold", lines.Text())
		cmd.Stdin, cmd.Stdout, cmd.Stderr = held, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	return lines.Err()
}
