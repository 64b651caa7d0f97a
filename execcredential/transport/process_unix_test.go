//go:build unix

package transport_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// alive reports whether the process runs; a zombie does not.
func alive(pid []byte) bool {
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil || syscall.Kill(n, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(n) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func kill(pid []byte) {
	if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}
