// Package execcredential is the pure core of KEP-541: what a client tells a credential plugin, what the plugin answers,
// and which plugins may run.
//
// A kubeconfig user may name a program that prints a credential. The client sets KUBERNETES_EXEC_INFO, runs the
// program, reads an ExecCredential from its standard output and uses the token or client certificate in it until it
// expires or the server answers 401. This package contains that exchange as values and functions
// without a clock, process or file:
//
//   - [ExecConfig] is the configuration ([ExecConfig.Validate], [ExecConfig.Defaulted]);
//   - [Info] and [Environ] are what goes out, [ParseAnswer] is what comes back as a checked [Credential];
//   - [Policy] decides whether a command may run at all.
//
// Arguments, environment values, credentials, a proxy's URL and the plugin's own configuration are [redact.Text] and
// [redact.Bytes]: nothing here shows them when it is printed, encoded or logged.
//
// The sub-packages touch the world: transport runs plugins for net/http and decides when, kubeconfig reads the
// configuration as kubectl does, pluginsdk turns a function into a plugin. The nested module restconfig is the bridge
// to client-go, which nothing else here needs.
//
// The specification is KEP-541, External credential providers, with the API groups client.authentication.k8s.io/v1,
// v1beta1 and v1alpha1. A program that already uses client-go, runs one plugin and minds neither a hanging plugin nor
// the first 401 does not need this module.
package execcredential
