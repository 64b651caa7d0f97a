package privilege

import (
	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
)

// What each way of seeing takes, and why: docs/agent.md.
var (
	forEBPF        = Of(unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_RESOURCE)
	forEnvironment = Of(unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH) // of processes of other users
	forConnector   = Of(unix.CAP_NET_ADMIN) | forEnvironment
)

// AtStart returns the capabilities that an agent of the mode keeps until it sees.
func AtStart(mode string) Set {
	switch mode {
	case board.ModeEBPF:
		return forEBPF
	case board.ModeConnector:
		return forConnector
	}
	return forEBPF | forConnector
}

// Afterwards returns those that it keeps from then on. Maps are read through descriptors, which kernels before 5.19
// allow only to who has CAP_BPF, where unprivileged BPF is off; the connector's reader reads the environment of others.
func Afterwards(origin agent.Origin) Set {
	if origin == agent.OriginConnector {
		return forEnvironment
	}
	if older(kernelVersion(), [2]int{5, 19}) {
		return Of(unix.CAP_BPF)
	}
	return 0
}

// older reports whether one version is before the other.
func older(a, b [2]int) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

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
