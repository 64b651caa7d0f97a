// Package criconformance tries whether a container runtime keeps what Kubernetes designs ask of it: environments of exec
// sessions (KEP-6035, ExecRequest.envs) and the groups of a container's processes (KEP-3619, supplemental groups policy).
// It is what the authors of a runtime run in their CI, as a part of their own tests or as the tool
// cmd/criconformance:
//
//	func TestMain(m *testing.M) {
//		if code, asked := reporter.Main(os.Args, os.Stdout, os.Stderr); asked {
//			os.Exit(code)
//		}
//		os.Exit(m.Run())
//	}
//
//	func TestConformance(t *testing.T) {
//		criconformance.Run(t, criconformance.Options{Endpoint: "unix:///run/containerd/containerd.sock"})
//	}
//
// Each case is a subtest that is named by its requirement and case, such as "CON-1 envs/injected". The first lines make
// the test binary the program in the suite's images, for which it has to be built with CGO_ENABLED=0; otherwise
// Options.Reporter names such a program, of which the tool is one.
//
// Package suite is the same without testing. What critest tries beyond these two features is not tried here.
package criconformance
