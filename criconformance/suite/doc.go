// Package suite tries whether a CRI runtime keeps the promises of KEP-6035 (ExecRequest.envs) and KEP-3619 (supplemental
// groups policy, user in the container's status). It runs without package testing, for tools:
//
//	report, err := suite.Run(ctx, suite.Options{Endpoint: "unix:///run/containerd/containerd.sock"})
//	…
//	report.WriteText(os.Stdout)
//	os.Exit(report.ExitCode())
//
// A runtime's own go test takes package criconformance.
//
// Nothing but the endpoint is needed. The suite makes its images, with one static program in them, and serves them from a
// registry in its own process. The program is the running one, which calls [reporter.Main] first thing and was built with
// CGO_ENABLED=0, or the one that Options.Reporter names.
//
// [reporter.Main]: https://pkg.go.dev/github.com/lanyard-dev/lanyard/criconformance/reporter#Main
package suite
