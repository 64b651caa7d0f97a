package webhook

import (
	"net"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/usage"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Defaults of the flags.
const (
	DefaultListen        = ":8443"
	DefaultMetricsListen = "127.0.0.1:9090"
	DefaultNamespace     = "lanyard-system"
	DefaultDrain         = 3 * time.Second
	DefaultRecordsBytes  = 64 << 20 // 64 MiB
	DefaultRecordsKeep   = 16
)

// defaultReload is how often files are looked at for a change.
const defaultReload = 2 * time.Second

// Options are those of the server, each by its flag.
type Options struct {
	Listen, MetricsListen string
	CertFile, KeyFile     string
	ClientCAFile          string
	ClientNames           []string
	PathSecretFile        string
	SigningKeyFile        string
	Kubeconfig            string
	Namespace             string
	RecordsFile           string
	SyncRecords           bool
	RecordsBytes          int64
	RecordsKeep           int
	AuditFile             string
	Unready, Unrecorded   string
	Lifetime              time.Duration
	Timeout               time.Duration
	Drain                 time.Duration

	// listening is told of both addresses when the server is ready; nil is nobody.
	listening func(serve, metrics net.Addr)
	// reload is for tests; zero is defaultReload.
	reload time.Duration
}

// Validate returns the first thing that is wrong with the flags, as a usage.Error.
func (o *Options) Validate() error {
	for _, required := range []struct{ flag, value string }{
		{"tls-cert-file", o.CertFile},
		{"tls-private-key-file", o.KeyFile},
		{"key-file", o.SigningKeyFile},
		{"records-file", o.RecordsFile},
	} {
		if required.value == "" {
			return usage.Errorf("--%s is missing", required.flag)
		}
	}
	if o.ClientCAFile == "" && o.PathSecretFile == "" {
		return usage.Errorf("who may call the webhook? give --client-ca-file, for an API server with a client certificate, or --path-secret-file: " +
			"without, any pod that reaches it could have tokens made")
	}
	if len(o.ClientNames) > 0 && o.ClientCAFile == "" {
		return usage.Errorf("--client-names needs --client-ca-file")
	}
	for _, choice := range []struct{ flag, value string }{{"unready", o.Unready}, {"record-failure", o.Unrecorded}} {
		if c := admission.Choice(choice.value); c != admission.ChoiceAllow && c != admission.ChoiceRefuse {
			return usage.Errorf("--%s is %q: it is allow or refuse", choice.flag, choice.value)
		}
	}
	if o.Lifetime < time.Second || o.Lifetime > token.MaxLifetime {
		return usage.Errorf("--token-lifetime is %v: it is from 1s to %v", o.Lifetime, token.MaxLifetime)
	}
	if o.Timeout <= 0 || o.Drain < 0 {
		return usage.Errorf("--timeout is above 0, --drain at least 0")
	}
	if o.RecordsBytes < 0 || o.RecordsKeep < 0 {
		return usage.Errorf("--records-max-bytes and --records-keep are at least 0")
	}
	if o.AuditFile != "" && o.AuditFile == o.RecordsFile {
		return usage.Errorf("--audit-file and --records-file are two files")
	}
	return nil
}

func (o *Options) policy() admission.Policy {
	return admission.Policy{
		Unready: admission.Choice(o.Unready), Unrecorded: admission.Choice(o.Unrecorded), Lifetime: o.Lifetime,
	}
}
