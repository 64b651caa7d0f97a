//go:build amd64 || arm64

package bpf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// noSubsys is NO_SUBSYS of programs.c.
const noSubsys = 16

// kernel is what the programs must be told of the kernel, since its types say it only to the loader.
type kernel struct {
	groupDead, flexibleNumbers bool
	pids, memory               uint32
}

// mode is one way to load the programs.
type mode struct {
	raw     bool
	numbers uint32
}

// How the programs read pid.numbers, as programs.c has it.
const (
	numbersFirst = iota
	numbersDirect
	numbersRead
)

// modes returns the ways to try, from the one that sees most.
func (k kernel) modes() []mode {
	raw := mode{raw: true, numbers: numbersRead}
	if k.flexibleNumbers {
		return []mode{{numbers: numbersDirect}, raw}
	}
	return []mode{{numbers: numbersRead}, {numbers: numbersFirst}, raw}
}

func thisKernel() (kernel, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return kernel{}, fmt.Errorf("the kernel's types: %w: %w", ErrUnsupported, err)
	}
	k := kernel{pids: noSubsys, memory: noSubsys}
	var task *btf.Struct
	if err := spec.TypeByName("task_struct", &task); err != nil {
		return k, fmt.Errorf("the kernel's types: %w: %w", ErrUnsupported, err)
	}
	if !hasMember(task, "loginuid") || !hasMember(task, "sessionid") {
		return k, fmt.Errorf("kernel without CONFIG_AUDIT: %w", ErrUnsupported)
	}
	k.groupDead = exitHasGroupDead(spec)
	k.flexibleNumbers = numbersHaveNoLength(spec)
	var controllers *btf.Enum
	if spec.TypeByName("cgroup_subsys_id", &controllers) == nil {
		for _, v := range controllers.Values {
			switch {
			case v.Name == "pids_cgrp_id" && v.Value < noSubsys:
				k.pids = uint32(v.Value)
			case v.Name == "memory_cgrp_id" && v.Value < noSubsys:
				k.memory = uint32(v.Value)
			}
		}
	}
	return k, nil
}

func hasMember(s *btf.Struct, name string) bool {
	for _, m := range s.Members {
		if m.Name == name {
			return true
		}
	}
	return false
}

// exitHasGroupDead: since Linux 6.16 sched_process_exit tells whether the thread is the last of its process.
func exitHasGroupDead(spec *btf.Spec) bool {
	var def *btf.Typedef
	if spec.TypeByName("btf_trace_sched_process_exit", &def) != nil {
		return false
	}
	pointer, ok := btf.UnderlyingType(def).(*btf.Pointer)
	if !ok {
		return false
	}
	proto, ok := pointer.Target.(*btf.FuncProto)
	return ok && len(proto.Params) == 3 // the first is the program's context
}

// numbersHaveNoLength: the verifier follows an index into pid.numbers where the array is flexible, since Linux 6.5.
func numbersHaveNoLength(spec *btf.Spec) bool {
	var pid *btf.Struct
	if spec.TypeByName("pid", &pid) != nil {
		return false
	}
	for _, m := range pid.Members {
		if array, ok := m.Type.(*btf.Array); ok && m.Name == "numbers" {
			return array.Nelems == 0
		}
	}
	return false
}

// spec returns the programs with all that the verifier must know.
func (o Options) spec(k kernel, m mode, generation uint32) (*ebpf.CollectionSpec, error) {
	load := loadPrograms
	if m.raw {
		load = loadRaw
	}
	spec, err := load()
	if err != nil {
		return nil, err
	}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, err
	}
	spec.Maps[programsMapRing].MaxEntries = uint32(o.RingBytes)
	spec.Maps[programsMapScratch].MaxEntries = uint32(cpus)
	spec.Maps[programsMapScratch].ValueSize += uint32(o.ArgBytes + o.EnvBytes)
	var errs []error
	for name, value := range map[string]uint32{
		programsVarMinLoginUid:  o.MinLoginUID,
		programsVarLoginUidSpan: o.MaxLoginUID - o.MinLoginUID,
		programsVarArgBytes:     uint32(o.ArgBytes),
		programsVarEnvBytes:     uint32(o.EnvBytes),
		programsVarGeneration:   generation,
		programsVarHasGroupDead: number(k.groupDead),
		programsVarNumbers:      m.numbers,
		programsVarPidsSubsys:   k.pids,
		programsVarMemorySubsys: k.memory,
	} {
		if v := spec.Variables[name]; v != nil { // the compiler leaves out what it does not need
			errs = append(errs, v.Set(value))
		}
	}
	return spec, errors.Join(errs...)
}

func number(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// configuration digests the programs and all they are told but their generation.
func (o Options) configuration(k kernel, m mode) uint64 {
	object := _ProgramsBytes
	if m.raw {
		object = _RawBytes
	}
	h := fnv.New64a()
	_, _ = h.Write(object)
	for _, n := range []uint32{
		o.MinLoginUID, o.MaxLoginUID, uint32(o.ArgBytes), uint32(o.EnvBytes),
		number(k.groupDead), m.numbers, k.pids, k.memory,
	} {
		_ = binary.Write(h, binary.LittleEndian, n)
	}
	return h.Sum64()
}
