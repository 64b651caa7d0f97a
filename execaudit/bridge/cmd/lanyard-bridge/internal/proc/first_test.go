//go:build linux

package proc_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/proc"
)

const (
	id     = "8762eafc25a3"
	inside = "4:memory:/kubepods/besteffort/pod1/" + id + "\n0::/\n"
	shim   = "4:memory:/system.slice/containerd.service\n0::/\n"
	pause  = "4:memory:/kubepods/besteffort/pod1/5a5a5a5a\n0::/\n"
)

func TestFirst(t *testing.T) {
	task := func(pid, ppid, levels int, command, cgroup string) proc.Task {
		return proc.Task{PID: pid, PPID: ppid, StartTicks: uint64(1000 + pid), Command: command, Levels: levels, Cgroup: cgroup}
	}
	zombie := task(12, 2, 2, "sh", "4:memory:/\n")
	zombie.Zombie = true
	hostZombie := zombie
	hostZombie.Levels = 1
	parents := []proc.Task{
		task(2, 1, 1, "containerd-shim", shim), task(3, 2, 2, "init", inside), task(4, 1, 1, "conmon", "0::/system.slice/crio-conmon-"+id+".scope"),
		task(5, 1, 2, "pause", pause), task(10, 2, 1, "runc", shim), task(12, 2, 2, "sh", inside), task(6, 1, 1, "crun", shim),
	}
	for _, c := range []struct {
		name    string
		tasks   []proc.Task
		id      string
		first   int // 0 is none
		runtime int
		others  bool
	}{
		{"BRG-3 the process that the runtime left to the shim is the first", []proc.Task{task(12, 2, 2, "sh", inside)}, id, 12, 0, false},
		{"BRG-3 descendants are not", []proc.Task{task(12, 2, 2, "sh", inside), task(13, 12, 2, "sleep", inside), task(14, 3, 2, "sleep", inside)}, id, 12, 0, true},
		{"BRG-3 a PID that wrapped around does not matter", []proc.Task{task(7, 12, 2, "sleep", inside), task(12, 2, 2, "sh", inside)}, id, 12, 0, true},
		{"BRG-3 the runtime alone is not", []proc.Task{task(10, 2, 1, "runc", shim)}, id, 0, 1, false},
		{"BRG-3 the wrapper before it executes the runtime is not", []proc.Task{task(10, 2, 1, "lanyard-oci", shim)}, id, 0, 1, false},
		{"BRG-3 runc's processes are not while they set up", []proc.Task{task(10, 2, 1, "runc", shim), task(11, 10, 1, "runc:[1:CHILD]", inside), task(12, 10, 2, "runc:[2:INIT]", inside)}, id, 0, 3, false},
		{"BRG-3 crun's child is not while it has crun's name", []proc.Task{task(6, 2, 1, "crun", shim), task(12, 6, 2, "crun", inside)}, id, 0, 1, false},
		{"BRG-3 in the foreground it is the runtime's child", []proc.Task{task(10, 4, 1, "runc", shim), task(12, 10, 2, "sh", inside)}, id, 12, 1, false},
		{"BRG-3 one left to conmon", []proc.Task{task(12, 4, 2, "sh", "0::/kubepods.slice/crio-"+id+".scope/container\n")}, id, 12, 0, false},
		{"BRG-3 one whose parent was PID 1 of the container began within", []proc.Task{task(14, 3, 2, "sleep", inside)}, id, 0, 0, true},
		{"BRG-3 one that the pause container adopted began within", []proc.Task{task(14, 5, 2, "sleep", inside)}, id, 0, 0, true},
		{"BRG-3 in the host's PID namespace the cgroup tells", []proc.Task{task(10, 2, 1, "runc", shim), task(12, 2, 1, "sh", inside), task(13, 12, 1, "sh", inside)}, id, 12, 1, true},
		{"BRG-3 crun's process that enters the namespaces for its child is not", []proc.Task{task(11, 1, 1, "crun", inside), task(12, 2, 2, "sh", inside)}, id, 12, 0, true},
		{"BRG-3 systemd's scope", []proc.Task{task(12, 2, 2, "sh", "0::/kubepods.slice/cri-containerd-"+id+".scope\n")}, id, 12, 0, false},
		{"BRG-3 systemd's slice for a runtime without systemd", []proc.Task{task(12, 2, 2, "sh", "0::/system.slice:cri-containerd:"+id+"\n")}, id, 12, 0, false},
		{"BRG-3 another container's", []proc.Task{task(12, 2, 2, "sh", "0::/kubepods/x"+id+"\n")}, id, 0, 1, false},
		{"BRG-3 a zombie is told by its namespace", []proc.Task{zombie}, id, 12, 0, false},
		{"BRG-3 in the host's PID namespace nothing tells a zombie", []proc.Task{hostZombie}, id, 0, 0, true},
		{"BRG-3 the parent ended meanwhile", []proc.Task{task(12, 99, 2, "sh", inside)}, id, 0, 0, true},
		{"BRG-3 no container is known", []proc.Task{task(12, 2, 2, "sh", inside)}, "", 0, 1, false},
		{"BRG-3 nothing is there", nil, id, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			byPID := map[int]proc.Task{}
			for _, p := range parents {
				byPID[p.PID] = p
			}
			s := proc.First(c.tasks, byPID, c.id)
			first := 0
			if s.First != nil {
				first = s.First.PID
			}
			if first != c.first || len(s.Runtime) != c.runtime || s.Others != c.others {
				t.Errorf("First = %d, runtime %v, others %v, want %d, %d, %v", first, s.Runtime, s.Others, c.first, c.runtime, c.others)
			}
		})
	}
}
