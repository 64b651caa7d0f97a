// Package criconformance tests whether a CRI runtime implements KEP-6035 (ExecRequest.envs, the environment of exec
// sessions) and KEP-3619 (supplemental groups policy, the groups of a container's processes). The authors of a runtime
// run it in their CI, as a part of their own tests or as the tool cmd/criconformance:
//
//	func TestMain(m *testing.M) {
//		if code, asked := reporter.Main(os.Args, os.Stdout, os.Stderr); asked {
//			os.Exit(code)
//		}
//		os.Exit(m.Run())
//	}
//
//	func TestConformance(t *testing.T) {
//		criconformance.Run(t, suite.Options{Endpoint: "unix:///run/containerd/containerd.sock"})
//	}
//
// Each case is a subtest that is named by its requirement and case, such as "CON-1 envs/injected". The first lines make
// the test binary the program in the suite's images, for which it must be built with CGO_ENABLED=0; otherwise
// Options.Reporter names such a program, for example the tool.
//
// Package suite is the same without package testing. What critest tests beyond these two features is not tested here.
package criconformance
