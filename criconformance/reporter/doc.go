// Package reporter is the one program in the suite's images. It says as JSON what it is: environment, user, groups and
// capabilities of its own process and of the container's first one. It is not a program of its own but a part of any
// that calls [Main] first, so that the conformance tool, or a runtime's own test binary, can put itself into an image:
//
//	if code, asked := reporter.Main(os.Args, os.Stdout, os.Stderr); asked {
//		os.Exit(code)
//	}
//
// It reads /proc and so says something on Linux only.
package reporter
