// Package explain says why a pull has credentials or has none: it walks the stages that a lookup goes through, provider
// by provider, without running a plugin or asking for a token, and says of each whether it passes and why.
//
//	report := explain.Explain(ctx, explain.Question{
//		Config: config, Image: "registry.example.io/team/app:1", Pod: pod, Account: &account,
//	})
//	fmt.Print(report)
//
// Lint finds patterns that match nothing, or more than they seem to.
package explain
