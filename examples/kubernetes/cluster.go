package kubernetes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	clientset "k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
	"github.com/lanyard-dev/lanyard/examples/sweep"
)

// Cluster is a running cluster. Its methods are safe for concurrent use, but for those that start and stop parts.
type Cluster struct {
	options   Options
	dir       string
	spaces    spaces
	authority *ca.Authority
	port      int // the API server's
	admin     *User
	client    *clientset.Clientset
	apiserver *process.Process
	workers   []*Worker

	mu      sync.Mutex
	ends    []func() error // what Stop does, the last first
	parts   []*part
	exposed map[int]bool
}

// part is a component by the name of its log.
type part struct {
	name string
	log  string
	*process.Process
}

// Start starts the whole cluster and returns when the API server answers, every node is there, and pods of the default
// namespace can run. On an error nothing is left; the error has the end of the log of the component that failed.
func Start(ctx context.Context, o Options) (_ *Cluster, err error) {
	c, err := New(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	nodes := o.Nodes
	if nodes == nil {
		nodes = []Node{{}}
	}
	for _, n := range nodes {
		if _, err := c.AddNode(n); err != nil {
			return nil, err
		}
	}
	if err := c.together(func() error { return c.startControl(ctx) }, func(w *Worker) error { return w.StartContainerd(ctx) }); err != nil {
		return nil, err
	}
	if err := c.together(nil, func(w *Worker) error { return w.StartKubelet(ctx) }); err != nil {
		return nil, err
	}
	return c, nil
}

// together runs one function beside one for each node, and returns when all have.
func (c *Cluster) together(one func() error, each func(*Worker) error) error {
	errs := make([]error, len(c.workers)+1)
	var all sync.WaitGroup
	if one != nil {
		all.Go(func() { errs[0] = one() })
	}
	for i, w := range c.workers {
		all.Go(func() { errs[i+1] = each(w) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (c *Cluster) startControl(ctx context.Context) error {
	if !c.options.Reference {
		if err := c.StartEtcd(ctx); err != nil {
			return err
		}
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if c.options.ControllerManager {
		return c.StartControllerManager(ctx)
	}
	return nil
}

// New makes the cluster's network, its authority and its administrator, and starts no component. Stop it when done; when
// this process ends before, a process that New starts beside it does so.
func New(o Options) (_ *Cluster, err error) {
	c := &Cluster{options: o, dir: o.Dir, exposed: map[int]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if c.dir == "" {
		// Its name is there before it is, so that whoever removes it knows it.
		c.dir = filepath.Join(os.TempDir(), "lanyard-k8s-"+rand.Text()[:10])
	}
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return nil, err
	}
	if c.spaces, err = newNetwork(); err != nil {
		return nil, err
	}
	c.atEnd(c.spaces.net.Close)
	// Before anything is there that could be left.
	keeper, err := sweep.Keep(sweep.Place{Network: c.spaces.net, Dir: c.dir, Remove: o.Dir == ""})
	if err != nil {
		return nil, err
	}
	c.atEnd(keeper.Close)
	if o.Dir == "" {
		if err := os.Mkdir(c.dir, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Join(c.dir, "users"), 0o755); err != nil {
		return nil, err
	}
	if err := c.spaces.addAddress(0, c.address(0)); err != nil {
		return nil, err
	}
	if c.authority, err = ca.New("lanyard"); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.AuthorityFile(), c.authority.PEM(), 0o644); err != nil {
		return nil, err
	}
	if c.port, err = c.reserve(); err != nil {
		return nil, err
	}
	if c.admin, err = c.Certificate("admin", "system:masters"); err != nil {
		return nil, err
	}
	c.client, err = clientset.NewForConfig(c.admin.Config)
	return c, err
}

// address is the cluster's own at 0, and the nodes' from 1. They are of a range for documentation, which nobody has.
func (c *Cluster) address(number int) net.IP { return net.IPv4(192, 0, 2, byte(10+number)) }

func (c *Cluster) atEnd(f func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends = append(c.ends, f)
}

// Stop ends everything in order, the last started first, and removes what it made. It may be called again, and on a
// cluster that was started in part.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	ends := slices.Clone(c.ends)
	c.ends = nil
	c.mu.Unlock()
	var errs []error
	for _, end := range slices.Backward(ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// Dir holds everything that the cluster writes: logs as NAME.log, certificates, and a directory for each node.
func (c *Cluster) Dir() string { return c.dir }

// AuthorityFile is the certificate of the authority that signed all others, PEM.
func (c *Cluster) AuthorityFile() string { return filepath.Join(c.dir, "ca.crt") }

// Authority signs what else the cluster's parts are to trust.
func (c *Cluster) Authority() *ca.Authority { return c.authority }

// URL is the API server's, inside and outside.
func (c *Cluster) URL() string { return "https://" + net.JoinHostPort(loopback, strconv.Itoa(c.port)) }

// Admin may do everything.
func (c *Cluster) Admin() *User { return c.admin }

// Client calls the API server as [Cluster.Admin].
func (c *Cluster) Client() *clientset.Clientset { return c.client }

// APIServer is the API server's process.
func (c *Cluster) APIServer() *process.Process { return c.apiserver }

// Node returns the node of the name, nil where there is none; "" is the first.
func (c *Cluster) Node(name string) *Worker {
	for _, w := range c.workers {
		if name == "" || w.Name == name {
			return w
		}
	}
	return nil
}

// Launch starts a command inside the cluster's network. What is left of it is killed by Stop.
func (c *Cluster) Launch(cmd *exec.Cmd) error { return c.spaces.launch(cmd) }

// Do runs f on a thread inside the cluster's network; goroutines that f starts are not.
func (c *Cluster) Do(f func() error) error { return c.spaces.do(f) }

// run starts a component and has Stop end it. A grace of 0 kills it.
func (c *Cluster) run(ctx context.Context, where spaces, name string, cmd Command, ready func(context.Context) error, grace time.Duration) (*process.Process, error) {
	path, err := cmd.path()
	if err != nil {
		return nil, err
	}
	p := &part{name: name, log: filepath.Join(c.dir, name+".log")}
	p.Process = process.New(process.Options{
		Name: name, Path: path, Args: cmd.Flags, Env: cmd.Env, Log: p.log, Launch: where.launch, Ready: ready,
	})
	if err := p.Start(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.parts = append(c.parts, p)
	c.mu.Unlock()
	c.atEnd(func() error {
		if grace == 0 {
			p.Kill()
		} else {
			p.Stop(grace)
		}
		return nil
	})
	return p.Process, nil
}

// Logs returns the end of every component's log, for a test that failed.
func (c *Cluster) Logs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out string
	for _, p := range c.parts {
		out += fmt.Sprintf("== %s\n%s\n", p.name, p.Tail())
	}
	for _, w := range c.workers {
		out += fmt.Sprintf("== containerd of %s\n%s\n", w.Name, tail(filepath.Join(w.dir, "containerd", "containerd.log")))
	}
	return out
}

// tailBytes is how much of a log is shown.
const tailBytes = 4 << 10 // 4 KiB

func tail(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-tailBytes):])
}
