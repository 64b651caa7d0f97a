// Package reporter is the only program in the test images. It prints environment, user, groups and capabilities of its
// own process and of the container's first one. It is a part of any program that calls [Main] before anything else, so
// that the conformance tool, or a runtime's own test binary, can put itself into an image:
//
//	if code, asked := reporter.Main(os.Args, os.Stdout, os.Stderr); asked {
//		os.Exit(code)
//	}
//
// It reads /proc, and so works on Linux only.
package reporter
