package execcredential

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/lanyard-dev/lanyard/redact"
)

// Info returns the value of [InfoEnv] for one run: the ExecCredential with its spec, as JSON and a line feed, byte for
// byte what client-go sends. The proxy's URL and the cluster's Config are in clear.
//
// Cluster is left out unless config asks for it and its version has the field. Interactive says whether standard input
// is handed over. The error is encoding/json's when cluster.Config is not a JSON value.
func Info(config ExecConfig, cluster *Cluster, interactive bool) (string, error) {
	object := wireObject{Kind: Kind, APIVersion: config.APIVersion, Spec: wireSpec{Interactive: interactive}}
	if config.ProvideClusterInfo && hasCluster(config.APIVersion) {
		object.Spec.Cluster = cluster.wire()
	}
	return encode(object)
}

// Environ returns the plugin's environment as NAME=VALUE: host, then the configured entries, then [InfoEnv]. Of entries
// with one name the last counts, so a configured entry overrides the host's and none overrides info (KEP-541, Provider
// input format). The result is new.
func Environ(host []string, config ExecConfig, info string) []redact.Text {
	environ := make([]string, 0, len(host)+len(config.Env)+1)
	environ = append(environ, host...)
	for _, entry := range config.Env {
		environ = append(environ, entry.Name+"="+entry.Value.Reveal())
	}
	return redact.Texts(append(environ, InfoEnv+"="+info)...)
}

// EncodeAnswer returns a plugin's answer with its secrets in clear, as JSON and a line feed. It is meant for the
// plugin's standard output and nothing else.
func EncodeAnswer(version string, status Status) (string, error) {
	wire := &wireStatus{
		Token:             status.Token.Reveal(),
		ClientCertificate: status.ClientCertificateData,
		ClientKey:         status.ClientKeyData.Reveal(),
	}
	if status.ExpirationTimestamp != nil {
		wire.ExpirationTimestamp = &timestamp{Time: status.ExpirationTimestamp.UTC().Truncate(time.Second)}
	}
	return encode(wireObject{Kind: Kind, APIVersion: version, Status: wire})
}

func encode(object any) (string, error) {
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(object); err != nil {
		return "", err
	}
	return out.String(), nil
}
