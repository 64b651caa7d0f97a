// Package check takes a credential provider plugin, however it was made, through the protocol.
//
//	report := check.Run(ctx, "/usr/libexec/credential-providers/my-plugin", check.Options{
//		Image: "registry.example.io/app",
//	})
//	if !report.OK() { fmt.Print(report) }
//
// It runs the plugin about ten times. A plugin that has to reach a service it cannot reach here refuses, which the
// protocol allows: what could not be seen then is inconclusive, which is neither a failure nor a pass. OK is true when
// every rule was looked at and is kept.
package check
