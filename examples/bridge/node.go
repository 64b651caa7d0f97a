package bridge

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// installed are where the installer and the node's daemon write.
var installed = []string{"/etc/containerd", "/etc/lanyard", "/opt/lanyard", "/run/lanyard", "/var/lib/lanyard"}

// Paths on the node.
const (
	spoolDir    = "/var/lib/lanyard/spool"
	journalFile = "/var/lib/lanyard/journal/sessions.jsonl"
	journalKey  = "/etc/lanyard/journal.key"
)

const nodeMetrics = "127.0.0.1:9091"

// worker is the node with the bridge.
func (r *Rig) worker() *kubernetes.Worker { return r.Node("") }

// onNode runs a program on the node to its end.
func (r *Rig) onNode(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, r.program, args...)
	var out limited
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := r.worker().Do(cmd.Start); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("lanyard-bridge %q: %w: %s", args, err, out.text)
	}
	return nil
}

// limited keeps the first of what a program prints.
type limited struct{ text []byte }

func (l *limited) Write(p []byte) (int, error) {
	l.text = append(l.text, p[:min(len(p), 16<<10-len(l.text))]...)
	return len(p), nil
}

// WrapperFile is where the installer puts the wrapper, as seen from outside of the node.
func (r *Rig) WrapperFile() string { return r.worker().Private("/opt/lanyard/bin/lanyard-oci-runc") }

// exitRestart is the installer's exit code where the runtime must be restarted first.
const exitRestart = 3

// install installs the wrapper in mode drop-in, and restarts containerd where the installer says that it must be.
func (r *Rig) install(ctx context.Context) error {
	err := r.Installer(ctx, "install")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitRestart {
		return err
	}
	if err := r.worker().RestartContainerd(ctx); err != nil {
		return err
	}
	return r.Installer(ctx, "install")
}

// Installer runs install, uninstall or status on the node.
func (r *Rig) Installer(ctx context.Context, verb string, flags ...string) error {
	w := r.worker()
	args := []string{verb, "--mode=drop-in", "--cri-socket=" + w.Socket()}
	if verb == "install" {
		args = append(args, "--node-name="+w.Name, "--config="+w.ContainerdConfig())
	}
	return r.onNode(ctx, append(args, flags...)...)
}

// startDaemon starts the node's daemon with the rights of its service account on this node.
func (r *Rig) startDaemon(ctx context.Context) error {
	user, err := r.daemonAccount(ctx)
	if err != nil {
		return err
	}
	// Its other half stays away from the node.
	r.journalKey = journal.NewKey()
	if err := r.journalKey.Install(r.worker().Private(journalKey)); err != nil {
		return err
	}
	r.daemon = process.New(process.Options{
		Name: "lanyard-bridge node", Path: r.program, Log: filepath.Join(r.Dir(), "node.log"),
		Args: []string{
			"node", "--node-name=" + r.worker().Name, "--namespace=" + Namespace, "--kubeconfig=" + user.Kubeconfig,
			"--keys-from=" + r.keysFile(), "--metrics-listen=" + nodeMetrics, "--journal-key=" + journalKey,
		},
		Launch: r.launchDaemon,
		Ready:  func(ctx context.Context) error { return well(ctx, r.Cluster, nodeMetrics, "/readyz") },
	})
	r.atEnd(func() error { r.daemon.Stop(webhookGrace); return nil })
	return r.daemon.Start(ctx)
}

// launchDaemon starts the daemon on the node, with as little of the processors as its pod's request gives it there.
func (r *Rig) launchDaemon(cmd *exec.Cmd) error {
	if err := r.worker().Do(cmd.Start); err != nil {
		return err
	}
	const least = 19
	return unix.Setpriority(unix.PRIO_PGRP, cmd.Process.Pid, least)
}

// Daemon is the node's daemon's process.
func (r *Rig) Daemon() *process.Process { return r.daemon }

// daemonAccount is the daemon's service account with a token that names the node, as a pod's there does.
func (r *Rig) daemonAccount(ctx context.Context) (*kubernetes.User, error) {
	node, err := r.Client().CoreV1().Nodes().Get(ctx, r.worker().Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	const name = "lanyard-bridge-node"
	answer, err := r.Client().CoreV1().ServiceAccounts(Namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return r.User(name, &clientcmdapi.AuthInfo{Token: answer.Status.Token})
}

// awaitReady waits until pods that are made now are the bridge's.
func (r *Rig) awaitReady(ctx context.Context) error {
	var since time.Time
	err := kubernetes.Await(ctx, "readiness of "+r.worker().Name, func(ctx context.Context) (bool, error) {
		lease, err := r.Client().CoordinationV1().Leases(Namespace).Get(ctx, readiness.LeaseName(r.worker().Name), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		said, err := readiness.Parse(lease.Annotations)
		handler, active := said.Handlers[readiness.DefaultHandler]
		since = handler.Since
		return active && len(said.Keys) > 0, errors.Join(err, fmt.Errorf("the lease has handlers %v and %d keys", said.Handlers, len(said.Keys)))
	})
	if err != nil {
		return err
	}
	// Pods' times have whole seconds.
	covered := time.NewTimer(time.Until(since.Add(readiness.Margin + time.Second)))
	defer covered.Stop()
	select {
	case <-covered.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
