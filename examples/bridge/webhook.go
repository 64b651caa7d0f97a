package bridge

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// The webhook serves inside the cluster's network, where nobody else does.
const (
	webhookAddress = "127.0.0.1:9443"
	webhookMetrics = "127.0.0.1:9444"
)

// webhookGrace is how long the webhook may take to end.
const webhookGrace = 10 * time.Second

// makeKeys makes the first pair of keys.
func (r *Rig) makeKeys(ctx context.Context) error {
	return errors.Join(r.Keys(ctx, "new"), r.PublishKeys(ctx))
}

// Keys runs `lanyard-bridge keys` on the file of private keys: new, rotate or retire.
func (r *Rig) Keys(ctx context.Context, verb string) error {
	if _, err := r.command(ctx, "keys", verb, r.keyFile()); err != nil {
		return err
	}
	text, err := os.ReadFile(r.keyFile())
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			r.key, err = token.ParseKey(line)
			return err
		}
	}
	return fmt.Errorf("%s: no key", r.keyFile())
}

// PublishKeys gives the public keys to the node, as the chart's ConfigMap does.
func (r *Rig) PublishKeys(ctx context.Context) error {
	text, err := r.command(ctx, "keys", "public", r.keyFile())
	if err != nil {
		return err
	}
	return os.WriteFile(r.keysFile(), text, 0o644)
}

func (r *Rig) keyFile() string { return filepath.Join(r.Dir(), "signing.key") }

// keysFile has the public keys.
func (r *Rig) keysFile() string { return filepath.Join(r.Dir(), "public.keys") }

// Key is the webhook's newest private key. Who has it can make tokens.
func (r *Rig) Key() token.Key { return r.key }

// RecordsFile is where the webhook writes its session records.
func (r *Rig) RecordsFile() string { return filepath.Join(r.Dir(), "records.jsonl") }

// command runs lanyard-bridge to its end, and returns what it printed. Its error has it, too.
func (r *Rig) command(ctx context.Context, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("lanyard-bridge %q: %w: %s", args, err, errs.String())
	}
	return out.Bytes(), nil
}

// applyChart makes the namespace and applies the chart.
func (r *Rig) applyChart(ctx context.Context) error {
	if r.options.Path {
		r.secret = rand.Text() + rand.Text()
	}
	return errors.Join(r.Namespace(ctx, Namespace), r.ApplyChart(ctx, nil))
}

// ApplyChart applies the chart with values beside the rig's, for a webhook that runs outside of pods: there is no
// network for pods here.
func (r *Rig) ApplyChart(ctx context.Context, values map[string]any) error {
	chart, err := LoadChart()
	if err != nil {
		return err
	}
	all := chartutil.MergeTables(map[string]any{}, values)
	chartutil.CoalesceTables(all, map[string]any{
		"image":   map[string]any{"registry": "localhost", "tag": "none"},
		"webhook": map[string]any{"url": r.WebhookURL()},
		"tls":     map[string]any{"caBundle": string(r.Authority().PEM())},
		"node":    map[string]any{"mode": "drop-in"},
	})
	objects, _, err := chart.Render(Release{Namespace: Namespace, Values: all})
	if err != nil {
		return err
	}
	// Its pods would have the network of their node, which is all that there is.
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "DaemonSet" })
	return objects.Apply(ctx, r.Admin().Config, Namespace)
}

// WebhookURL is what the API server adds /mutate and /validate to.
func (r *Rig) WebhookURL() string {
	if r.secret == "" {
		return "https://" + webhookAddress
	}
	return "https://" + webhookAddress + "/" + r.secret
}

// startWebhook starts the webhook with the rights of its service account, and further flags.
func (r *Rig) startWebhook(ctx context.Context) error { return r.RestartWebhook(ctx) }

// RestartWebhook starts the webhook anew, with further flags.
func (r *Rig) RestartWebhook(ctx context.Context, flags ...string) error {
	if r.webhook != nil {
		r.webhook.Stop(webhookGrace)
	}
	args, err := r.webhookFlags(ctx)
	if err != nil {
		return err
	}
	r.webhook = process.New(process.Options{
		Name: "lanyard-bridge webhook", Path: r.program, Args: append(args, flags...), Log: filepath.Join(r.Dir(), "webhook.log"),
		Launch: r.Launch, Ready: r.webhookReady,
	})
	started := r.webhook
	r.atEnd(func() error { started.Stop(webhookGrace); return nil })
	return r.webhook.Start(ctx)
}

// Webhook is the webhook's process.
func (r *Rig) Webhook() *process.Process { return r.webhook }

func (r *Rig) webhookFlags(ctx context.Context) ([]string, error) {
	account, err := r.ServiceAccount(ctx, Namespace, "lanyard-bridge-webhook")
	if err != nil {
		return nil, err
	}
	pair, err := r.Authority().Server("127.0.0.1")
	if err != nil {
		return nil, err
	}
	certificate, key := filepath.Join(r.Dir(), "webhook.crt"), filepath.Join(r.Dir(), "webhook.key")
	args := []string{
		"webhook", "--listen=" + webhookAddress, "--metrics-listen=" + webhookMetrics, "--kubeconfig=" + account.Kubeconfig,
		"--namespace=" + Namespace, "--tls-cert-file=" + certificate, "--tls-private-key-file=" + key, "--key-file=" + r.keyFile(),
		"--records-file=" + r.RecordsFile(), "--drain=0s",
	}
	if r.options.Path {
		file := filepath.Join(r.Dir(), "path-secret")
		args = append(args, "--path-secret-file="+file)
		err = os.WriteFile(file, []byte(r.secret), 0o600)
	} else {
		args = append(args, "--client-ca-file="+r.AuthorityFile(), "--client-names="+apiServerName)
	}
	return args, errors.Join(err, os.WriteFile(certificate, pair.Cert, 0o644), os.WriteFile(key, pair.Key, 0o600))
}

// webhookReady returns nil once the webhook says that it is ready.
func (r *Rig) webhookReady(ctx context.Context) error {
	return well(ctx, r.Cluster, webhookMetrics, "/readyz")
}

// well returns nil where a GET inside the cluster's network succeeds.
func well(ctx context.Context, c *kubernetes.Cluster, address, path string) error {
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.Dial(ctx, network, address)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return nil
}
