package source

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// cgroups finds the containers of cgroups. It keeps what it found; a cgroup's ID comes once in a boot.
type cgroups struct {
	root, proc string // of the hierarchy
	logs       string
	controller string // of version 1; "" for version 2
	now        func() time.Time

	mu     sync.Mutex
	known  map[uint64]string
	order  []uint64
	sought map[uint64]time.Time // those that were not found
	next   time.Time            // of a search, at the earliest
	parsed map[string]agent.Container
}

const (
	// maxCgroups is how many cgroups are known at once.
	maxCgroups = 8 << 10
	// seekAgain is how long a cgroup that was not found is not sought again.
	seekAgain = time.Second
	// seekShare is how much longer than a search takes none is made: who can make cgroups cannot have the reader search
	// for them all the time.
	seekShare = 10
)

func newCgroups(o Options) *cgroups {
	c := &cgroups{
		root: o.CgroupRoot, proc: o.Proc, logs: o.Logs, now: o.Now, known: map[uint64]string{},
		sought: map[uint64]time.Time{},
		parsed: map[string]agent.Container{},
	}
	for _, controller := range []string{"pids", "memory"} {
		dir := filepath.Join(o.CgroupRoot, controller)
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil {
			c.root, c.controller = dir, controller
			break
		}
	}
	return c
}

// path returns the path of a cgroup in its hierarchy, "" when it is not known: that of the process, if it is still
// there, or by a search.
func (c *cgroups) path(id uint64, pid int) string {
	if id == 0 {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if path, ok := c.known[id]; ok {
		return path
	}
	path := c.of(pid)
	if path != "" && c.id(path) == id {
		c.keep(id, path)
		return path
	}
	now := c.now()
	if at, ok := c.sought[id]; ok && now.Sub(at) < seekAgain || now.Before(c.next) {
		return ""
	}
	path = c.seek(id)
	end := c.now()
	c.next = end.Add(seekShare * end.Sub(now))
	if path == "" {
		if len(c.sought) >= maxCgroups {
			clear(c.sought)
		}
		c.sought[id] = now
		return ""
	}
	delete(c.sought, id)
	c.keep(id, path)
	return path
}

func (c *cgroups) keep(id uint64, path string) {
	if len(c.order) >= maxCgroups {
		delete(c.known, c.order[0])
		c.order = append(c.order[:0], c.order[1:]...)
	}
	c.known[id] = path
	c.order = append(c.order, id)
}

// of returns the path of a process's cgroup, "" when it is gone.
func (c *cgroups) of(pid int) string {
	text, err := os.ReadFile(filepath.Join(c.proc, strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return ""
	}
	return cgroupIn(text, c.controller)
}

// cgroupIn returns the path of a controller's hierarchy in a text of /proc/PID/cgroup; "" as a controller is version 2.
func cgroupIn(text []byte, controller string) string {
	for line := range bytes.Lines(text) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		for name := range strings.SplitSeq(controllers, ",") {
			if ok && name == controller {
				return path
			}
		}
	}
	return ""
}

// id returns the ID of the cgroup at a path, 0 for none.
func (c *cgroups) id(path string) uint64 {
	info, err := os.Stat(filepath.Join(c.root, path))
	if err != nil {
		return 0
	}
	return inode(info)
}

// seek goes through the hierarchy.
func (c *cgroups) seek(id uint64) string {
	found := ""
	_ = filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // it went away
		}
		if info, err := d.Info(); err == nil && inode(info) == id {
			found = "/" + strings.TrimPrefix(strings.TrimPrefix(path, c.root), "/")
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// container returns the container of a cgroup's path.
func (c *cgroups) container(_ uint64, path string) agent.Container {
	c.mu.Lock()
	defer c.mu.Unlock()
	in, ok := c.parsed[path]
	if !ok {
		if len(c.parsed) >= maxCgroups {
			clear(c.parsed)
		}
		in = agent.ParseCgroup(path)
		if in.ID != "" {
			in.Pod, in.Namespace, in.Name = c.names(in.ID)
		}
		c.parsed[strings.Clone(path)] = in
	}
	return in
}

// names returns the names of a container as the kubelet gave them to its log, "" where it has none.
func (c *cgroups) names(id string) (pod, namespace, container string) {
	dir, err := os.Open(c.logs)
	if err != nil {
		return "", "", ""
	}
	defer dir.Close()
	logs, err := dir.Readdirnames(-1)
	for _, log := range logs {
		name, ours := strings.CutSuffix(log, "-"+id+".log")
		if parts := strings.Split(name, "_"); err == nil && ours && len(parts) == 3 {
			return parts[0], parts[1], parts[2]
		}
	}
	return "", "", ""
}
