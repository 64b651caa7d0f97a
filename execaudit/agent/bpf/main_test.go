//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// markVar makes the test's own binary the starter of a marked process: it marks itself with that login UID and becomes what
// its arguments name.
const markVar = "LANYARD_BPF_TEST_MARK"

func TestMain(m *testing.M) {
	if uid := os.Getenv(markVar); uid != "" {
		fmt.Fprintln(os.Stderr, becomeMarked(uid))
		os.Exit(125)
	}
	os.Exit(m.Run())
}

func becomeMarked(uid string) error {
	runtime.LockOSThread()
	if err := os.WriteFile("/proc/thread-self/loginuid", []byte(uid), 0); err != nil {
		return err
	}
	os.Unsetenv(markVar)
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

func markEnv(uid uint32) string { return markVar + "=" + strconv.FormatUint(uint64(uid), 10) }
