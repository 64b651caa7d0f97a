//go:build linux && (amd64 || arm64)

package bpf

// LoadOld is Load as on a kernel whose types do not tell which thread is a process's last, nor let the verifier follow
// pid.numbers.
func LoadOld(o Options) (*Programs, error) {
	k, err := thisKernel()
	if err != nil {
		return nil, err
	}
	k.groupDead, k.flexibleNumbers = false, false
	return loadModes(o, k, k.modes())
}

// LoadLocked is LoadOld as on a kernel that is locked down.
func LoadLocked(o Options) (*Programs, error) {
	k, err := thisKernel()
	if err != nil {
		return nil, err
	}
	k.groupDead, k.flexibleNumbers = false, false
	return loadModes(o, k, k.modes()[1:2])
}

// LoadUnified is Load as on a node whose controllers are all in cgroup v2's hierarchy.
func LoadUnified(o Options) (*Programs, error) {
	k, err := thisKernel()
	if err != nil {
		return nil, err
	}
	k.pids, k.memory = noSubsys, noSubsys
	return loadModes(o, k, k.modes())
}
