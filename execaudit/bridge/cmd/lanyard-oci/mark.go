//go:build linux

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
)

// The files of the thread that executes the runtime. Through /proc/self another thread's are EPERM.
const (
	loginUIDFile  = "/proc/thread-self/loginuid"
	sessionIDFile = "/proc/thread-self/sessionid"
)

// unset is the kernel's word for no login UID and no session ID.
const unset = 1<<32 - 1

// setMark gives this thread, and so the runtime and all that it starts, a login UID and the session ID that the kernel
// chooses with it. It returns the ID and [spool.MarkSet], or 0 and why there is no mark.
func setMark(loginUID uint32) (sessionID uint32, mark string) {
	before := readUint(loginUIDFile)
	if err := writeLoginUID(loginUID); err != nil {
		mark = "refused by the kernel: " + err.Error()
		if before != unset {
			mark += "; login UID " + strconv.FormatUint(uint64(before), 10) + " was set before"
		}
		return 0, mark
	}
	if sessionID = readUint(sessionIDFile); sessionID == unset {
		return 0, "the kernel gives no session ID"
	}
	return sessionID, spool.MarkSet
}

// markWorkload marks what belongs to no session, where all is marked. That the kernel refuses stops no container.
func (w *wrapper) markWorkload() {
	if w.config.Mark != oci.MarkWorkloads {
		return
	}
	var bundle oci.Bundle
	if w.call.Command == "exec" {
		bundle, _ = w.bundle()
	} else if w.call.Bundle == "" {
		bundle, _ = readBundle(".")
	} else {
		bundle, _ = readBundle(w.call.Bundle)
	}
	if !w.unmarked(bundle) {
		_ = writeLoginUID(bridge.WorkloadLoginUID)
	}
}

func writeLoginUID(uid uint32) error {
	fd, err := syscall.Open(loginUIDFile, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err == nil {
		defer syscall.Close(fd)
		_, err = syscall.Write(fd, strconv.AppendUint(nil, uint64(uid), 10))
	}
	if err != nil {
		return &os.PathError{Op: "write", Path: loginUIDFile, Err: err}
	}
	return nil
}

// readUint returns the number in a file of the kernel's, unset if there is none.
func readUint(name string) uint32 {
	text, err := readFile(name, 64)
	if err != nil {
		return unset
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return unset
	}
	return uint32(n)
}
