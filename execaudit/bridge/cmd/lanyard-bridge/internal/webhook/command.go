package webhook

import (
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
)

// Command returns the command `webhook`.
func Command() *cobra.Command {
	o := Options{}
	c := &cobra.Command{
		Use:   "webhook",
		Short: "Serve the admission webhook that signs tokens and keeps the record of sessions",
		Long: `Serve the admission webhook.

It answers the API server at /mutate and /validate, and at /audit takes the events of its audit webhook, where --audit-file
names a file for those that have a session. It serves nobody but the API server, which it knows by a client certificate
(--client-ca-file) or by a secret first element of the path (--path-secret-file); where both are given, both must be right.

Keys, certificates and the secret path are read again when their files change. Files of records and of audit events are rotated by size. SIGHUP opens them again.
/metrics, /healthz and /readyz are served at an address of their own; it is ready once it knows the cluster.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			return run(c.Context(), o, slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil)))
		},
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", DefaultListen, "the address for the API server")
	f.StringVar(&o.MetricsListen, "metrics-listen", DefaultMetricsListen, "the address of /metrics, /healthz and /readyz, without TLS")
	f.StringVar(&o.CertFile, "tls-cert-file", "", "the serving certificate and its chain, in PEM")
	f.StringVar(&o.KeyFile, "tls-private-key-file", "", "the serving certificate's private key, in PEM")
	f.StringVar(&o.ClientCAFile, "client-ca-file", "", "the authorities of the API server's client certificate, in PEM")
	f.StringSliceVar(&o.ClientNames, "client-names", nil, "the names (common or DNS name) of client certificates that may call; empty is any of the authorities")
	f.StringVar(&o.PathSecretFile, "path-secret-file", "", "the secret first element of the path, at least 22 of A-Z a-z 0-9 - _; a second line is one that may be used, too")
	f.StringVar(&o.SigningKeyFile, "key-file", "", "the private key that signs, and on a second line the one before, for nodes that do not have the first yet")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "credentials to look pods up with (default the pod's)")
	f.StringVar(&o.Namespace, "namespace", ownNamespace(), "the namespace of the nodes' Leases")
	f.StringVar(&o.RecordsFile, "records-file", "", "the file of session records, JSON lines; - is standard output")
	f.BoolVar(&o.SyncRecords, "records-sync", true, "answer when the record is on the disk")
	f.Int64Var(&o.RecordsBytes, "records-max-bytes", DefaultRecordsBytes, "the size at which the file of records, and the one of audit events, is rotated, in bytes; 0 is never")
	f.IntVar(&o.RecordsKeep, "records-keep", DefaultRecordsKeep, "how many rotated files of each are kept, the newest, as FILE.NUMBER; 0 is all")
	f.StringVar(&o.AuditFile, "audit-file", "", "serve /audit, and write the audit events that have a session to this file, JSON lines")
	f.StringVar(&o.Unready, "unready", string(admission.ChoiceAllow), "allow or refuse an exec that no token can be signed for")
	f.StringVar(&o.Unrecorded, "record-failure", string(admission.ChoiceRefuse), "allow or refuse a session whose record cannot be written")
	f.DurationVar(&o.Lifetime, "token-lifetime", admission.DefaultLifetime, "how long a token is good")
	f.DurationVar(&o.Timeout, "timeout", admission.DefaultTimeout, "how long a pod is looked up at most; less than the webhook configuration's timeoutSeconds")
	f.DurationVar(&o.Drain, "drain", DefaultDrain, "how long requests are still taken after SIGTERM, while the Service forgets this address")
	return c
}

// ownNamespace is the pod's, where the program runs in one.
func ownNamespace() string {
	name, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil || len(name) == 0 {
		return DefaultNamespace
	}
	return strings.TrimSpace(string(name))
}
