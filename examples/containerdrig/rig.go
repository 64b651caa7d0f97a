package containerdrig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/sweep"
)

// PauseImage is the sandbox image that the rig expects to be given with Import before the first pod runs.
const PauseImage = "localhost/lanyard/pause:1"

// stopWait is how long containerd may take to end when it is asked to.
const stopWait = 10 * time.Second

// Rig is a running containerd.
type Rig struct {
	config Config
	dir    string
	ctr    string
	cmd    *exec.Cmd
	log    *os.File
	users  *os.File // locked, shared, by every rig on this machine
	exited chan error
}

// Config says what to run; dir must exist, and everything the rig keeps is in it.
type Config struct {
	Dir                         string
	Containerd, Shim, Ctr, Runc string // paths of the programs
	// Old is for containerd 1.x, whose configuration has other names.
	Old bool
	// Settings are further tables of containerd's configuration, TOML.
	Settings string
	// Imports are patterns of further configuration files. What is there counts from the next start.
	Imports []string
	// Launch starts containerd where it belongs, such as in a namespace; nil starts it in the caller's.
	Launch func(*exec.Cmd) error
}

// Find returns a configuration with the programs that `make parts` built.
func Find(dir string) (Config, error) {
	c := Config{Dir: dir}
	for program, path := range map[string]*string{
		"containerd": &c.Containerd, "containerd-shim-runc-v2": &c.Shim, "ctr": &c.Ctr, "runc": &c.Runc,
	} {
		var err error
		if *path, err = parts.Find(program); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Start starts containerd and waits until its CRI service answers. Stop it when done.
func Start(ctx context.Context, c Config) (*Rig, error) {
	r := &Rig{config: c, dir: c.Dir, ctr: c.Ctr, exited: make(chan error, 1)}
	configured := settings
	if c.Old {
		configured = oldSettings
	}
	if err := os.WriteFile(r.ConfigFile(), []byte(configured(c)), 0o600); err != nil {
		return nil, err
	}
	var err error
	if r.users, err = sweep.Users(); err != nil {
		return nil, err
	}
	if r.log, err = os.Create(filepath.Join(c.Dir, "containerd.log")); err != nil {
		return nil, errors.Join(err, r.users.Close())
	}
	if err := r.launch(); err != nil {
		return nil, errors.Join(err, r.log.Close(), r.users.Close())
	}
	if err := r.ready(ctx); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// launch starts the program with the configuration as it is now.
func (r *Rig) launch() error {
	r.cmd = exec.Command(r.config.Containerd, "--config", r.ConfigFile(), "--log-level", "warn")
	// It looks for its shim on the path.
	r.cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(r.config.Shim)+":"+os.Getenv("PATH"))
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	start := r.config.Launch
	if start == nil {
		start = (*exec.Cmd).Start
	}
	if err := start(r.cmd); err != nil {
		return err
	}
	go func(cmd *exec.Cmd) { r.exited <- cmd.Wait() }(r.cmd)
	return nil
}

// ConfigFile is the path of containerd's configuration.
func (r *Rig) ConfigFile() string { return filepath.Join(r.dir, "config.toml") }

// Restart ends containerd, as a service manager does, unless it was killed, and starts it again. Its containers go on.
// On an error it must still be stopped.
func (r *Rig) Restart(ctx context.Context) error {
	r.end()
	if err := r.launch(); err != nil {
		r.exited <- err
		return err
	}
	return r.ready(ctx)
}

// settings are the least that work without CNI and without the privilege to lower an OOM score.
func settings(c Config) string {
	return fmt.Sprintf(`version = 4
root = %[1]q
state = %[2]q
imports = [%[7]s]
[plugins."io.containerd.server.v1.grpc"]
  address = %[3]q
[plugins."io.containerd.server.v1.ttrpc"]
  address = %[4]q
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = %[5]q
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  BinaryName = %[6]q
`, filepath.Join(c.Dir, "root"), filepath.Join(c.Dir, "state"), filepath.Join(c.Dir, "c.sock"), filepath.Join(c.Dir, "c.sock.ttrpc"), PauseImage, c.Runc, c.imports()) + c.Settings
}

func (c Config) imports() string {
	quoted := make([]string, len(c.Imports))
	for i, pattern := range c.Imports {
		quoted[i] = strconv.Quote(pattern)
	}
	return strings.Join(quoted, ", ")
}

// Socket is the path of the CRI socket.
func (r *Rig) Socket() string { return filepath.Join(r.dir, "c.sock") }

// Kill ends containerd at once, as a crash does. Stop it all the same.
func (r *Rig) Kill() {
	_ = r.cmd.Process.Kill()
	r.exited <- <-r.exited
}

func (r *Rig) ready(ctx context.Context) error {
	conn, err := grpc.NewClient("unix://"+r.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	client := runtimeapi.NewRuntimeServiceClient(conn)
	for {
		_, err := client.Status(ctx, &runtimeapi.StatusRequest{})
		if err == nil {
			return nil
		}
		select {
		case exit := <-r.exited:
			r.exited <- exit
			return fmt.Errorf("containerd ended: %w: %s", exit, r.tail())
		case <-ctx.Done():
			return fmt.Errorf("containerd is not ready: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Import stores the image under the reference, without a registry.
func (r *Rig) Import(ctx context.Context, reference string, i v1.Image) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return err
	}
	file := filepath.Join(r.dir, "import.tar")
	defer os.Remove(file)
	if err := tarball.WriteToFile(file, tag, i); err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, r.ctr, "--address", r.Socket(), "--namespace", "k8s.io", "images", "import", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ctr images import: %w: %s", err, tail(string(said)))
	}
	return nil
}

// Stop ends containerd. Pods should be removed before: their containers and shims outlive it. What it mounted is
// unmounted; the directory is the caller's to remove.
func (r *Rig) Stop() error {
	r.end()
	sweep.RemoveParents(r.users)
	return errors.Join(r.log.Close(), r.users.Close(), sweep.Unmount(r.dir))
}

// end ends the program.
func (r *Rig) end() {
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.exited:
	case <-time.After(stopWait):
		_ = r.cmd.Process.Kill()
		<-r.exited
	}
}

// tail is the end of what containerd said.
func (r *Rig) tail() string {
	b, err := os.ReadFile(r.log.Name())
	if err != nil {
		return err.Error()
	}
	return tail(string(b))
}

func tail(s string) string { return strings.TrimSpace(s[max(0, len(s)-2<<10):]) }
