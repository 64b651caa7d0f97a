package sweep

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Place is where something ran.
type Place struct {
	Network *os.File // the network namespace; never the machine's own
	Dir     string   // absolute; what ran may have mounts and containerd's state below it
	Remove  bool     // removes Dir as well
}

const (
	patience = 30 * time.Second      // how long the killed may take to be gone
	poll     = 10 * time.Millisecond // how often they are looked for
)

// Sweep kills every process in the place's network, removes the cgroups of its containers, and unmounts what is mounted
// below its directory; then it removes that, where it is to. What was done before is not an error.
func (p Place) Sweep() error {
	groups := taskGroups(p.Dir)
	err := await("processes", func() (left []string, _ error) {
		pids, err := p.inside()
		for _, pid := range pids {
			groups = append(groups, processGroups(pid)...)
			_ = unix.Kill(pid, unix.SIGKILL)
			left = append(left, strconv.Itoa(pid))
		}
		return left, err
	})
	if err != nil {
		return err
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	// A cgroup is busy until the last of its dead is buried.
	err = await("cgroups", func() (left []string, _ error) {
		for _, dir := range groups {
			if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
				left = append(left, err.Error())
			}
		}
		return left, nil
	})
	if err := errors.Join(err, parents(), Unmount(p.Dir)); err != nil || !p.Remove {
		return err
	}
	return os.RemoveAll(p.Dir)
}

// await asks again and again, until nothing is left.
func await(what string, look func() ([]string, error)) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(poll) {
		left, err := look()
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s left: %v", what, left)
		}
	}
}

// inside returns the processes in the network.
func (p Place) inside() (out []int, _ error) {
	var own, place, other unix.Stat_t
	if err := errors.Join(unix.Stat("/proc/self/ns/net", &own), unix.Fstat(int(p.Network.Fd()), &place)); err != nil {
		return nil, err
	}
	if same(&own, &place) {
		return nil, errors.New("the network to sweep is the machine's own")
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && !spared(pid) && unix.Stat(dir+"/ns/net", &other) == nil && same(&other, &place) {
			out = append(out, pid)
		}
	}
	return out, nil
}

func same(a, b *unix.Stat_t) bool { return a.Ino == b.Ino && a.Dev == b.Dev }

// parent is the cgroup that containerd puts the containers of its CRI service below.
const parent = "k8s.io"

// processGroups returns the directories of the cgroups that containerd made for the process.
func processGroups(pid int) (out []string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		_, rest, _ := strings.Cut(lines.Text(), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if !strings.HasPrefix(path, "/"+parent+"/") {
			continue
		}
		mount := filepath.Join("/sys/fs/cgroup", strings.TrimPrefix(controllers, "name="))
		if controllers == "" {
			if _, err := os.Stat(filepath.Join(mount, "unified")); err == nil {
				mount = filepath.Join(mount, "unified")
			}
		}
		out = append(out, filepath.Join(mount, path))
	}
	return out
}

// taskGroups returns the cgroups of the containers that containerds with their directories below dir have noted, also of
// those without a process.
func taskGroups(dir string) (out []string) {
	tasks, _ := filepath.Glob(filepath.Join(dir, "*/containerd/state/io.containerd.runtime.v2.task", parent, "*"))
	for _, task := range tasks {
		for _, mount := range parentGroups() {
			out = append(out, filepath.Join(mount, filepath.Base(task)))
		}
	}
	return out
}

// parentGroups returns the cgroups above the containers', of every hierarchy.
func parentGroups() []string {
	one, _ := filepath.Glob("/sys/fs/cgroup/" + parent)
	many, _ := filepath.Glob("/sys/fs/cgroup/*/" + parent)
	return append(one, many...)
}

// Users says that somebody uses the cgroups above the containers', which all containerds share, until the file is
// closed. The lock is on a directory that every machine has, so that it leaves no file.
func Users() (*os.File, error) {
	f, err := os.Open("/sys/fs/cgroup")
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
		return nil, errors.Join(&os.PathError{Op: "flock", Path: f.Name(), Err: err}, f.Close())
	}
	return f, nil
}

// RemoveParents removes the cgroups above the containers', which containerd leaves behind, unless another holder of
// [Users] may be about to put a container there. The kernel keeps those that are not empty.
func RemoveParents(users *os.File) {
	if unix.Flock(int(users.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	for _, dir := range parentGroups() {
		_ = os.Remove(dir)
	}
}

func parents() error {
	users, err := Users()
	if err != nil {
		return err
	}
	RemoveParents(users)
	return users.Close()
}

// Unmount detaches every mount below dir, the innermost first.
func Unmount(dir string) error {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for _, line := range slices.Backward(lines) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], dir+"/") {
			if err := unix.Unmount(f[4], unix.MNT_DETACH); err != nil {
				errs = append(errs, &os.PathError{Op: "unmount", Path: f[4], Err: err})
			}
		}
	}
	return errors.Join(errs...)
}
