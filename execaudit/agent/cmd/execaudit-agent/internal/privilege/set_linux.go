package privilege

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Set is a set of capabilities, a bit each.
type Set uint64

// Of returns the set of the capabilities.
func Of(capabilities ...int) (s Set) {
	for _, c := range capabilities {
		s |= 1 << c
	}
	return s
}

// names are those of the capabilities that the agent has a use for; others are told by number.
var names = map[int]string{
	unix.CAP_NET_ADMIN: "CAP_NET_ADMIN", unix.CAP_SYS_PTRACE: "CAP_SYS_PTRACE", unix.CAP_SYS_RESOURCE: "CAP_SYS_RESOURCE",
	unix.CAP_DAC_READ_SEARCH: "CAP_DAC_READ_SEARCH", unix.CAP_PERFMON: "CAP_PERFMON", unix.CAP_BPF: "CAP_BPF",
}

// Names returns the capabilities' names, sorted; not nil.
func (s Set) Names() []string {
	out := []string{}
	for c := range 64 {
		if s&(1<<c) == 0 {
			continue
		}
		name := names[c]
		if name == "" {
			name = fmt.Sprintf("capability %d", c)
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Permitted returns the capabilities that this thread has, or may take again.
func Permitted() (Set, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0, err
	}
	return Set(data[0].Permitted) | Set(data[1].Permitted)<<32, nil
}

// data are what capset takes: permitted and effective, and what a program that is executed may inherit.
func (s Set) data(inheritable Set) *[2]unix.CapUserData {
	var out [2]unix.CapUserData
	for i := range out {
		shift := 32 * i
		out[i] = unix.CapUserData{Effective: uint32(s >> shift), Permitted: uint32(s >> shift), Inheritable: uint32(inheritable >> shift)}
	}
	return &out
}

// Confine leaves the process the capabilities of keep that it has, and no way to others: it gives up the rest, for
// itself and for whatever it would execute, and executes itself anew, since the threads of a running program cannot all
// be made to. So it is called before anything else, and returns where there is nothing to give up, or with an error.
func Confine(keep Set) error {
	has, err := Permitted()
	if err != nil {
		return fmt.Errorf("reading capabilities: %w", err)
	}
	confined, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err != nil {
		return fmt.Errorf("reading no_new_privs: %w", err)
	}
	if has&^keep == 0 && confined == 1 {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	// What is changed here is this thread's, and of the program that it executes.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	if err := hand(has & keep); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return fmt.Errorf("executing %s anew: %w", program, syscall.Exec(program, os.Args, os.Environ()))
}

// hand leaves this thread the capabilities, and the program that it executes: root's has those of root's that it had,
// anybody else's those that are ambient.
func hand(s Set) error {
	var ambient Set
	if os.Geteuid() != 0 {
		ambient = s
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &s.data(ambient)[0]); err != nil {
		return err
	}
	for c := range 64 {
		if ambient&(1<<c) == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(c), 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// Drop leaves all threads the capabilities of keep that they have. Its error is syscall.ENOTSUP for a program that is
// linked with C, whose threads are not all known; or the system's. Then all is as it was.
func Drop(keep Set) error {
	has, err := Permitted()
	if err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := (has & keep).data(0)
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(data)), 0)
	runtime.KeepAlive(&header)
	runtime.KeepAlive(data)
	if errno != 0 {
		return errno
	}
	return nil
}
