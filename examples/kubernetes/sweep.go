package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweepPatience is how long the killed may take to be gone.
const sweepPatience = 30 * time.Second

// sweep kills every process that is still in the cluster's network, and removes the cgroups of containers among them:
// what a component that was killed left behind, and what callers launched.
func (c *Cluster) sweep() error {
	groups := map[string]bool{}
	ctx, cancel := context.WithTimeout(context.Background(), sweepPatience)
	defer cancel()
	err := Await(ctx, "the end of all processes", func(context.Context) (bool, error) {
		pids, err := c.inside()
		for _, pid := range pids {
			for _, dir := range containerGroups(pid) {
				groups[dir] = true
			}
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		return err == nil && len(pids) == 0, errors.Join(err, fmt.Errorf("processes %v", pids))
	})
	if err != nil {
		return err
	}
	// A cgroup is busy until the last of its dead is buried.
	return Await(ctx, "the end of all cgroups", func(context.Context) (bool, error) {
		var errs []error
		for dir := range groups {
			if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
				errs = append(errs, err)
			}
		}
		return len(errs) == 0, errors.Join(errs...)
	})
}

// inside returns the processes in the cluster's network, without this one.
func (c *Cluster) inside() ([]int, error) {
	var own, other unix.Stat_t
	if err := unix.Fstat(int(c.spaces.net.Fd()), &own); err != nil {
		return nil, err
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var out []int
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if unix.Stat(dir+"/ns/net", &other) == nil && other.Ino == own.Ino && other.Dev == own.Dev {
			out = append(out, pid)
		}
	}
	return out, nil
}

// containerGroups returns the directories of the cgroups that containerd made for the process.
func containerGroups(pid int) (out []string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		_, rest, _ := strings.Cut(lines.Text(), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if !strings.HasPrefix(path, "/k8s.io/") {
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
