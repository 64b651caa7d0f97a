// Package bpf has the kernel's programs of the agent.
package bpf

import (
	_ "github.com/cilium/ebpf"
	_ "golang.org/x/sys/unix"
)
