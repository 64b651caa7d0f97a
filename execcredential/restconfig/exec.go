package restconfig

import (
	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// FromExecConfig returns the configuration of a plugin as clientcmd has loaded it, and its Config, which belongs in
// [execcredential.Cluster.Config]: [FromREST] puts it there. The slices are copied. The error is that of encoding a
// Config that is not JSON.
func FromExecConfig(config *clientcmdapi.ExecConfig) (execcredential.ExecConfig, redact.Bytes, error) {
	converted := execcredential.ExecConfig{
		Command: config.Command, Args: redact.Texts(config.Args...), APIVersion: config.APIVersion, InstallHint: config.InstallHint,
		ProvideClusterInfo: config.ProvideClusterInfo, InteractiveMode: execcredential.InteractiveMode(config.InteractiveMode),
		StdinUnavailable: config.StdinUnavailable, StdinUnavailableMessage: config.StdinUnavailableMessage,
		Policy: execcredential.Policy{Type: execcredential.PolicyType(config.PluginPolicy.PolicyType)},
	}
	for _, entry := range config.Env {
		converted.Env = append(converted.Env, execcredential.EnvVar{Name: entry.Name, Value: redact.New(entry.Value)})
	}
	if config.PluginPolicy.Allowlist != nil { // an empty list is a fault where none is not
		converted.Policy.Commands = make([]string, 0, len(config.PluginPolicy.Allowlist))
	}
	for _, entry := range config.PluginPolicy.Allowlist {
		converted.Policy.Commands = append(converted.Policy.Commands, entry.Command)
	}
	extension, err := rawJSON(config.Config)
	if err != nil {
		return execcredential.ExecConfig{}, redact.Bytes{}, err
	}
	return converted, extension, nil
}

// ToExecConfig returns the configuration of a plugin for client-go, arguments and environment values in clear, and its
// Impersonate, which belongs in the rest.Config's field of that name. The slices and maps are copied.
func ToExecConfig(config execcredential.ExecConfig) (*clientcmdapi.ExecConfig, rest.ImpersonationConfig) {
	config = config.Clone()
	converted := &clientcmdapi.ExecConfig{
		Command: config.Command, Args: redact.Reveal(config.Args), APIVersion: config.APIVersion, InstallHint: config.InstallHint,
		ProvideClusterInfo: config.ProvideClusterInfo, InteractiveMode: clientcmdapi.ExecInteractiveMode(config.InteractiveMode),
		StdinUnavailable: config.StdinUnavailable, StdinUnavailableMessage: config.StdinUnavailableMessage,
		PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PolicyType(config.Policy.Type)},
	}
	for _, entry := range config.Env {
		converted.Env = append(converted.Env, clientcmdapi.ExecEnvVar{Name: entry.Name, Value: entry.Value.Reveal()})
	}
	if config.Policy.Commands != nil {
		converted.PluginPolicy.Allowlist = make([]clientcmdapi.AllowlistEntry, 0, len(config.Policy.Commands))
	}
	for _, command := range config.Policy.Commands {
		converted.PluginPolicy.Allowlist = append(converted.PluginPolicy.Allowlist, clientcmdapi.AllowlistEntry{Command: command})
	}
	as := rest.ImpersonationConfig{
		UserName: config.Impersonate.Name, UID: config.Impersonate.UID, Groups: config.Impersonate.Groups, Extra: config.Impersonate.Extra,
	}
	return converted, as
}
