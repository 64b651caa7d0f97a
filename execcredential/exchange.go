package execcredential

import (
	"bytes"
	"encoding/json"
	"time"
)

// Info returns the value of [InfoEnv] for one run: the ExecCredential with its spec, as JSON and a line feed, byte for byte
// what client-go sends.
//
// Cluster is left out unless config asks for it and its version has the field. Interactive says whether standard input is
// handed over. The error is encoding/json's when cluster.Config is no JSON value.
func Info(config ExecConfig, cluster *Cluster, interactive bool) (string, error) {
	object := ExecCredential{Kind: Kind, APIVersion: config.APIVersion, Spec: Spec{Interactive: interactive}}
	if config.ProvideClusterInfo && HasCluster(config.APIVersion) {
		object.Spec.Cluster = cluster
	}
	return encode(object)
}

// Environ returns the plugin's environment: host, then the configured entries, then [InfoEnv]. Of entries with one name the last
// counts, so a configured entry overrides the host's and none overrides info (KEP-541, Provider input format). The result
// is new.
func Environ(host []string, config ExecConfig, info string) []string {
	environ := make([]string, 0, len(host)+len(config.Env)+1)
	environ = append(environ, host...)
	for _, entry := range config.Env {
		environ = append(environ, entry.Name+"="+entry.Value)
	}
	return append(environ, InfoEnv+"="+info)
}

// EncodeAnswer returns a plugin's answer with its secrets in clear, as JSON and a line feed. It is meant for the
// plugin's standard output and nothing else.
func EncodeAnswer(version string, status Status) (string, error) {
	wire := &answerStatus{
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
