//go:build linux

package run

import (
	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/privilege"
)

// What each way of seeing takes, and why: docs/agent.md.
var (
	forEBPF      = privilege.Of(unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_RESOURCE)
	forConnector = privilege.Of(unix.CAP_NET_ADMIN, unix.CAP_SYS_PTRACE)
)

// atStart are the capabilities that are kept until the source is open.
func atStart(mode string) privilege.Set {
	switch mode {
	case board.ModeEBPF:
		return forEBPF
	case board.ModeConnector:
		return forConnector
	}
	return forEBPF | forConnector
}

// afterwards are those that are kept from then on. Maps are read through descriptors, which kernels before 5.19 allow only
// to who has CAP_BPF, where unprivileged BPF is off; the connector's reader reads the environment of others.
func afterwards(origin agent.Origin, kernel [2]int) privilege.Set {
	switch {
	case origin == agent.OriginConnector:
		return privilege.Of(unix.CAP_SYS_PTRACE)
	case kernel[0] < 5 || kernel[0] == 5 && kernel[1] < 19:
		return privilege.Of(unix.CAP_BPF)
	}
	return 0
}

// kernelVersion returns the kernel's, as major and minor number; zeroes where it has another form.
func kernelVersion() (v [2]int) {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return v
	}
	return parseVersion(unix.ByteSliceToString(name.Release[:]))
}

func parseVersion(release string) (v [2]int) {
	part := 0
	for _, c := range []byte(release) {
		switch {
		case c >= '0' && c <= '9' && v[part] < 1000:
			v[part] = 10*v[part] + int(c-'0')
		case c == '.' && part == 0:
			part = 1
		default:
			return v
		}
	}
	return v
}
