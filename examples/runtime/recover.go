package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/runtime/disk"
	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// launchWait bounds how long a start that an earlier runtime began is waited for.
const launchWait = 10 * time.Second

// recover takes up what an earlier runtime left in the directory, and removes what it left half-made.
func (s *Server) recover() error {
	if err := eachDir(s.path("sandboxes"), s.recoverSandbox); err != nil {
		return err
	}
	return eachDir(s.path("containers"), s.recoverContainer)
}

func eachDir(dir string, do func(dir string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := do(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) recoverSandbox(dir string) error {
	b := &sandbox{dir: dir, config: &runtimeapi.PodSandboxConfig{}}
	record, err := disk.ReadJSON[sandboxRecord](filepath.Join(dir, sandboxFile))
	if err != nil {
		return err
	}
	if record == nil {
		return b.destroy()
	}
	b.record = *record
	s.sandboxes[b.record.ID] = b
	return protojson.Unmarshal(b.record.Config, b.config)
}

func (s *Server) recoverContainer(dir string) error {
	c := &container{dir: dir, config: &runtimeapi.ContainerConfig{}, ended: make(chan struct{})}
	record, err := disk.ReadJSON[containerRecord](filepath.Join(dir, containerFile))
	if err != nil {
		return err
	}
	if record == nil {
		return c.destroy()
	}
	c.record = *record
	c.env = newEnvironment(s.config, toStrings(c.record.Env))
	s.containers[c.record.ID] = c
	settleSessions(dir)
	return errors.Join(
		protojson.Unmarshal(c.record.Config, c.config),
		removeAll(filepath.Join(dir, processFiles)),
		s.resume(c),
	)
}

// settleSessions waits until the container's monitor has started and killed what an earlier runtime asked it for.
// Without a monitor, or with one that does not know how to tell, there is nothing to wait for.
func settleSessions(dir string) {
	conn, err := monitor.Dial(dir)
	if err != nil {
		return
	}
	defer time.AfterFunc(launchWait, func() { conn.Close() }).Stop()
	_, _ = ask(conn, monitor.Request{Op: monitor.OpSettle})
	conn.Close()
}

// removeAll removes the files that match; exec sessions of an earlier runtime left them.
func removeAll(pattern string) error {
	files, err := filepath.Glob(pattern)
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

// resume finds out how far the container's monitor has come, and follows it if it still runs.
func (s *Server) resume(c *container) error {
	phase, err := settled(c.dir)
	if err != nil {
		return err
	}
	if phase.Started != nil {
		c.setStarted(*phase.Started)
	}
	switch {
	case phase.Exited != nil:
		c.setExited(*phase.Exited)
	case !phase.Launched:
	case phase.Started != nil && phase.Alive:
		s.watch(c)
	default:
		err = s.lost(c, "its monitor did not live to tell")
		if errors.Is(err, monitor.ErrAlive) {
			// It came up between the two looks.
			return s.resume(c)
		}
	}
	return err
}

// settled waits while a monitor is in the middle of a start.
func settled(dir string) (monitor.Phase, error) {
	ctx, cancel := context.WithTimeout(context.Background(), launchWait)
	defer cancel()
	for {
		phase, err := monitor.Read(dir)
		if err != nil || !phase.Alive || phase.Started != nil || phase.Exited != nil {
			return phase, err
		}
		select {
		case <-ctx.Done():
			return phase, nil
		case <-time.After(10 * time.Millisecond):
		}
	}
}
