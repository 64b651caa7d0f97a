//go:build linux

package proc

import "strings"

// Sight is what one look at a session's processes showed.
type Sight struct {
	// First is the process that the runtime started for the session; nil when there is none, or none that is sure. One
	// in the PID namespace that FS has is sure only when it is still there a while later: it may be one of the runtime's
	// that is about to end.
	First *Task
	// Runtime are the runtime's own processes, which have the mark too, while they set the session up or wait for it.
	Runtime []Task
	// Others says that the session has processes besides: the first one's descendants.
	Others bool
}

// First tells the processes of one session apart. tasks are all that have its mark, parents all that are their parents,
// by PID; containerID is that of the container.
//
// The first process is in the container's cgroup, and its parent is outside of the container: the runtime, or what it
// left the process to (the shim, conmon). A descendant's parent is in the container, its PID 1 for one whose own parent
// ended. One exception remains: in a container with the host's PID namespace (hostPID), a descendant that the first
// process left behind before anybody looked is left to the shim as well, and taken for the first.
func First(tasks []Task, parents map[int]Task, containerID string) Sight {
	var s Sight
	var inside []Task
	for _, t := range tasks {
		switch {
		case settingUp(t.Command), !t.Zombie && !inContainer(t.Cgroup, containerID):
			s.Runtime = append(s.Runtime, t)
		default:
			inside = append(inside, t)
		}
	}
	for i, t := range inside {
		if s.isFirst(t, parents[t.PPID], containerID) && (s.First == nil || before(t, *s.First)) {
			s.First = &inside[i]
		}
	}
	s.Others = len(inside) > 1 || len(inside) == 1 && s.First == nil && !s.namedAsRuntime(inside[0])
	return s
}

// before prefers the process that is deeper in namespaces, since crun has one in between that enters them for its child
// alone, and then the older one.
func before(a, b Task) bool {
	return a.Levels > b.Levels || a.Levels == b.Levels && a.StartTicks < b.StartTicks
}

func (s *Sight) isFirst(t, parent Task, containerID string) bool {
	switch {
	case s.namedAsRuntime(t): // it has not come to its own program yet
		return false
	case parent.PID == 0: // it ended while we looked
		return false
	case inContainer(parent.Cgroup, containerID):
		return false
	case t.Zombie && t.Levels == 1: // the runtime's or the container's: nothing tells
		return false
	}
	return t.Levels > parent.Levels || t.Levels == 1
}

// namedAsRuntime reports whether a process has the name of a runtime's process that is still there.
func (s *Sight) namedAsRuntime(t Task) bool {
	for _, r := range s.Runtime {
		if r.Command == t.Command {
			return true
		}
	}
	return false
}

// settingUp knows runc's processes by the names that it gives them until they execute the container's program.
func settingUp(command string) bool { return strings.HasPrefix(command, "runc:[") }

// inContainer reports whether a cgroup file names the container, in any form of containerd and CRI-O with either cgroup
// driver: ID, PREFIX-ID.scope, SLICE:PREFIX:ID. CRI-O's conmon has crio-conmon-ID.scope, outside of the container.
func inContainer(cgroup, id string) bool {
	if id == "" {
		return false
	}
	for part := range strings.FieldsFuncSeq(cgroup, func(r rune) bool { return r == '/' || r == '\n' }) {
		name, ok := strings.CutSuffix(strings.TrimSuffix(part, ".scope"), id)
		if ok && (name == "" || strings.HasSuffix(name, "-") || strings.HasSuffix(name, ":")) && !strings.HasSuffix(name, "conmon-") {
			return true
		}
	}
	return false
}

// Look looks once at the processes of several sessions. containers are the container IDs by session ID.
func (fs FS) Look(containers map[uint32]string) (map[uint32]Sight, error) {
	sessions, err := fs.Sessions(func(id uint32) bool { _, ok := containers[id]; return ok })
	if err != nil {
		return nil, err
	}
	sights := make(map[uint32]Sight, len(containers))
	for id, pids := range sessions {
		var tasks []Task
		parents := map[int]Task{}
		for _, pid := range pids {
			t, err := fs.Task(pid)
			if err != nil {
				continue // it ended
			}
			if session, _, err := fs.Mark(pid); err != nil || session != id {
				continue // the PID is another's by now
			}
			tasks = append(tasks, t)
			if _, ok := parents[t.PPID]; !ok {
				parent, err := fs.Task(t.PPID)
				if err == nil {
					parents[t.PPID] = parent
				}
			}
		}
		sights[id] = First(tasks, parents, containers[id])
	}
	return sights, nil
}
