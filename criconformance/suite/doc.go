// Package suite tests whether a CRI runtime implements KEP-6035 (ExecRequest.envs) and KEP-3619 (supplemental groups
// policy, user in the container's status). It does not need package testing, so that tools can use it:
//
//	report, err := suite.Run(ctx, suite.Options{Endpoint: "unix:///run/containerd/containerd.sock"})
//	…
//	report.WriteText(os.Stdout)
//	os.Exit(report.ExitCode())
//
// In a runtime's own go test, use package criconformance.
//
// Only the endpoint is required. The suite makes its test images, each with one static program, and serves them from a
// registry in its own process. The program is the running one, which must call [reporter.Main] before anything else and
// be built with CGO_ENABLED=0, or the one that Options.Reporter names.
//
// [reporter.Main]: https://pkg.go.dev/github.com/lanyard-dev/lanyard/criconformance/reporter#Main
package suite
