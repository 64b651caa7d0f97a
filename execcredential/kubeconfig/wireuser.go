package kubeconfig

import (
	"encoding/json"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

type wireNamedUser struct {
	Name string   `json:"name"`
	User wireUser `json:"user"`
}

type wireUser struct {
	ClientCertificate     string              `json:"client-certificate,omitempty"`
	ClientCertificateData []byte              `json:"client-certificate-data,omitempty"`
	ClientKey             string              `json:"client-key,omitempty"`
	ClientKeyData         []byte              `json:"client-key-data,omitempty"`
	Token                 string              `json:"token,omitempty"`
	TokenFile             string              `json:"tokenFile,omitempty"`
	As                    string              `json:"as,omitempty"`
	AsUID                 string              `json:"as-uid,omitempty"`
	AsGroups              []string            `json:"as-groups,omitempty"`
	AsUserExtra           map[string][]string `json:"as-user-extra,omitempty"`
	Username              string              `json:"username,omitempty"`
	Password              string              `json:"password,omitempty"`
	AuthProvider          json.RawMessage     `json:"auth-provider,omitempty"`
	Exec                  *wireExec           `json:"exec,omitempty"`
	Extensions            []wireExtension     `json:"extensions,omitempty"`
}

type wireExec struct {
	Command            string                         `json:"command"`
	Args               []string                       `json:"args"`
	Env                []wireEnvVar                   `json:"env"`
	APIVersion         string                         `json:"apiVersion,omitempty"`
	InstallHint        string                         `json:"installHint,omitempty"`
	ProvideClusterInfo bool                           `json:"provideClusterInfo"`
	InteractiveMode    execcredential.InteractiveMode `json:"interactiveMode,omitempty"`
}

type wireEnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (w wireUser) user() User {
	if string(w.AuthProvider) == "null" {
		w.AuthProvider = nil
	}
	return User{
		ClientCertificate: w.ClientCertificate, ClientCertificateData: w.ClientCertificateData,
		ClientKey: w.ClientKey, ClientKeyData: redact.New(string(w.ClientKeyData)),
		Token: redact.New(w.Token), TokenFile: w.TokenFile,
		Username: w.Username, Password: redact.New(w.Password),
		Impersonate: execcredential.Impersonation{
			Name: w.As, UID: w.AsUID, Groups: w.AsGroups, Extra: w.AsUserExtra,
		},
		AuthProvider: redact.New(string(w.AuthProvider)),
		Exec:         w.Exec.exec(), Extensions: extensions(w.Extensions),
	}
}

func (w *wireExec) exec() *execcredential.ExecConfig {
	if w == nil {
		return nil
	}
	exec := &execcredential.ExecConfig{
		Command: w.Command, Args: redact.Texts(w.Args...), APIVersion: w.APIVersion, InstallHint: w.InstallHint,
		ProvideClusterInfo: w.ProvideClusterInfo, InteractiveMode: w.InteractiveMode,
	}
	for _, entry := range w.Env {
		exec.Env = append(exec.Env, execcredential.EnvVar{Name: entry.Name, Value: redact.New(entry.Value)})
	}
	return exec
}

func (u User) wire() wireUser {
	return wireUser{
		ClientCertificate: u.ClientCertificate, ClientCertificateData: u.ClientCertificateData,
		ClientKey: u.ClientKey, ClientKeyData: []byte(u.ClientKeyData.Reveal()),
		Token: u.Token.Reveal(), TokenFile: u.TokenFile,
		Username: u.Username, Password: u.Password.Reveal(),
		As: u.Impersonate.Name, AsUID: u.Impersonate.UID, AsGroups: u.Impersonate.Groups, AsUserExtra: u.Impersonate.Extra,
		AuthProvider: json.RawMessage(u.AuthProvider.Reveal()),
		Exec:         wireExecOf(u.Exec), Extensions: wireExtensions(u.Extensions),
	}
}

func wireExecOf(exec *execcredential.ExecConfig) *wireExec {
	if exec == nil {
		return nil
	}
	wire := &wireExec{
		Command: exec.Command, Args: redact.Reveal(exec.Args), APIVersion: exec.APIVersion, InstallHint: exec.InstallHint,
		ProvideClusterInfo: exec.ProvideClusterInfo, InteractiveMode: exec.InteractiveMode,
	}
	for _, entry := range exec.Env {
		wire.Env = append(wire.Env, wireEnvVar{Name: entry.Name, Value: entry.Value.Reveal()})
	}
	return wire
}
