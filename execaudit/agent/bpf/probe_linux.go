//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// Probe tries what the programs need on this kernel and with these rights, one thing after the other, and returns what
// came of it, in a constant order. With a directory it also tells whether programs can be pinned there. Nothing is left
// behind, and programs that are pinned are not touched.
func Probe(pinDir string) []Finding {
	k, kernelErr := thisKernel()
	nobody := Options{MinLoginUID: 1<<32 - 2, MaxLoginUID: 1<<32 - 2, RingBytes: os.Getpagesize()}
	findings := []Finding{
		{Name: "capability CAP_BPF", Err: capability(unix.CAP_BPF)},
		{Name: "capability CAP_PERFMON", Err: capability(unix.CAP_PERFMON)},
		{Name: "types of the kernel (BTF)", Err: kernelTypes()},
		{Name: "audit sessions (CONFIG_AUDIT)", Err: kernelErr},
		{Name: "ring buffer", Err: ringBuffer()},
		{Name: "programs with the kernel's types (tp_btf)", Err: tryLoad(nobody, k, kernelErr, false)},
		{Name: "programs at raw tracepoints", Err: tryLoad(nobody, k, kernelErr, true), Optional: true},
	}
	if pinDir != "" {
		pins := Finding{Name: "pins: no gap when the agent restarts", Err: pinnable(pinDir), Optional: true}
		findings = append(findings, pins)
	}
	return findings
}

func kernelTypes() error {
	_, err := btf.LoadKernelSpec()
	return err
}

// capability returns an error where this thread does not have the capability, effective.
func capability(number int) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	if data[number/32].Effective&(1<<(number%32)) == 0 {
		return errors.New("not effective")
	}
	return nil
}

func ringBuffer() error {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: uint32(os.Getpagesize())})
	if err != nil {
		return err
	}
	return m.Close()
}

func tryLoad(o Options, k kernel, kernelErr error, raw bool) error {
	if kernelErr != nil {
		return kernelErr
	}
	modes := slices.DeleteFunc(k.modes(), func(m mode) bool { return m.raw != raw })
	p, err := loadModes(o, k, modes)
	if err != nil {
		return err
	}
	return p.Close()
}

// pinnable does not lock the directory: an agent may be using it.
func pinnable(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if fs.Type != unix.BPF_FS_MAGIC {
		return &os.PathError{Op: "pin", Path: dir, Err: ErrNotBPFFS}
	}
	if err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("write in %s: %w", dir, err)
	}
	return nil
}
