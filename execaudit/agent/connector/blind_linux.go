package connector

import "golang.org/x/sys/unix"

// blind is what no reader of the proc connector can see.
var blind = []string{
	"a process that was gone before it could be read is counted, not told",
	"a process that runs two programs in quick succession may show the second one's arguments and environment for both",
	"a process cloned with CLONE_PARENT is told as the child of its parent's parent",
	"arguments and environment are what the process shows of them, which it can rewrite",
	"the file of a program is the one that was found to run, not the path that was given to execve",
	"a process that marks itself is seen from its next fork or exec on",
}

// missing returns what this process has not the capabilities to see.
func missing() (out []string) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return nil
	}
	has := func(capability int) bool { return data[capability/32].Effective&(1<<(capability%32)) != 0 }
	if !has(unix.CAP_SYS_PTRACE) {
		out = append(out, "environment, file and namespaces of processes with rights of their own: needs CAP_SYS_PTRACE")
	}
	if !has(unix.CAP_DAC_READ_SEARCH) && !has(unix.CAP_DAC_OVERRIDE) {
		out = append(out, "environment of other users' processes: needs CAP_DAC_READ_SEARCH")
	}
	return out
}
