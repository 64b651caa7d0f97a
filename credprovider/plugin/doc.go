// Package plugin runs a credential provider plugin: one process for one request, bounded in time and output.
//
//	p, err := plugin.Find(config.Providers[0], "/usr/libexec/kubernetes/credential-providers", plugin.Options{})
//	response, err := p.Run(ctx, credprovider.Request{
//		APIVersion: credprovider.V1, Image: "registry.example.io/team/app",
//	})
//
// It does not cache and does not match: package provider does.
package plugin
