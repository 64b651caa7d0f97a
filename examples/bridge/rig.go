package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Namespace is where the bridge is installed.
const Namespace = "lanyard-system"

// BareClass is a RuntimeClass, and its handler, of containers under runc alone.
const BareClass = "bare"

// Rig is a cluster with the bridge.
type Rig struct {
	*kubernetes.Cluster
	options Options
	program string // lanyard-bridge
	oci     string // lanyard-oci
	secret  string // the webhook's path, with Options.Path
	key     token.Key
	webhook *process.Process
	daemon  *process.Process
	// journalKey verifies the seals of the node's journal.
	journalKey journal.Key

	mu   sync.Mutex
	ends []func() error
}

// Start starts a cluster, installs the bridge on it, and returns when the node says that it is ready. On an error
// nothing is left.
func Start(ctx context.Context, o Options) (_ *Rig, err error) {
	r := &Rig{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Stop())
		}
	}()
	if r.program, r.oci, err = find(); err != nil {
		return nil, err
	}
	if err := r.startCluster(ctx); err != nil {
		return nil, err
	}
	if o.Before != nil {
		if err := o.Before(r); err != nil {
			return nil, err
		}
	}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"keys", r.makeKeys},
		{"the chart", r.applyChart},
		{"the webhook", r.startWebhook},
		{"the wrapper", r.install},
		{"the node's daemon", r.startDaemon},
		{"the node's readiness", r.awaitReady},
	} {
		r.tell(step.what)
		if err := step.do(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return r, nil
}

func (r *Rig) tell(what string) {
	if r.options.Tell != nil {
		r.options.Tell(what)
	}
}

// startCluster starts an unmodified cluster of one node, of which the bridge's installer can write the usual paths.
func (r *Rig) startCluster(ctx context.Context) (err error) {
	r.tell("etcd, kube-apiserver, containerd and kubelet")
	var fault error
	r.Cluster, err = kubernetes.New(kubernetes.Options{Dir: r.options.Dir, APIServer: func(command *kubernetes.Command) {
		if !r.options.Path {
			fault = showCertificate(r.Cluster, command)
		}
	}})
	if err != nil {
		return err
	}
	worker, err := r.AddNode(kubernetes.Node{Private: installed, Containerd: r.configure})
	if err != nil {
		return err
	}
	errs, both := make([]error, 2), sync.WaitGroup{}
	both.Go(func() { errs[0] = errors.Join(r.StartEtcd(ctx), r.StartAPIServer(ctx), fault) })
	both.Go(func() { errs[1] = worker.StartContainerd(ctx) })
	both.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := worker.StartKubelet(ctx); err != nil {
		return err
	}
	_, err = r.Client().NodeV1().RuntimeClasses().Create(ctx, &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: BareClass}, Handler: BareClass,
	}, metav1.CreateOptions{})
	return err
}

// configure is what an administrator has in containerd's configuration before the bridge comes: imports, as by default,
// and a second handler.
func (r *Rig) configure(c *containerdrig.Config) {
	c.Imports = []string{"/etc/containerd/conf.d/*.toml"}
	c.Settings += fmt.Sprintf(`
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.%[1]s]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.%[1]s.options]
  BinaryName = %[2]q
`, BareClass, c.Runc)
}

func (r *Rig) atEnd(f func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, f)
}

// Stop ends the bridge and the cluster, and removes what they made. It may be called again.
func (r *Rig) Stop() error {
	r.mu.Lock()
	ends := slices.Clone(r.ends)
	r.ends = nil
	r.mu.Unlock()
	var errs []error
	for _, end := range slices.Backward(ends) {
		errs = append(errs, end())
	}
	if r.Cluster != nil {
		errs = append(errs, r.Cluster.Stop())
	}
	return errors.Join(errs...)
}

// Logs returns the end of every component's log.
func (r *Rig) Logs() string {
	out := r.Cluster.Logs()
	for _, p := range []struct {
		name string
		*process.Process
	}{{"webhook", r.webhook}, {"node", r.daemon}} {
		if p.Process != nil {
			out += fmt.Sprintf("== lanyard-bridge %s\n%s\n", p.name, p.Tail())
		}
	}
	return out
}
