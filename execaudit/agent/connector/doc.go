// Package connector tells what the processes of marked sessions do where no eBPF program can be loaded: it listens to
// the kernel's proc connector and reads /proc right after.
//
//	r, err := connector.Open(connector.Options{})
//	defer r.Close()
//	for err == nil {
//		err = r.Read(&observation) // until r.Interrupt()
//	}
//
// It needs CONFIG_PROC_EVENTS, CAP_NET_ADMIN, and the machine's first PID, user and network namespaces. The environment
// and the namespaces of other users' processes need CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE besides.
//
// The kernel tells PIDs only. What was gone by the time of the reading, and what the kernel could not keep for a slow
// reader, is counted and never guessed; Reader.Blind says what cannot be seen.
package connector
