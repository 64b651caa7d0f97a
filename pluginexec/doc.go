// Package pluginexec runs a credential plugin as a bounded child process and keeps what it writes out of logs.
//
//	path, err := pluginexec.Lookup("example-plugin")
//	result, err := pluginexec.Run(ctx, pluginexec.Command{
//		Path:    path,
//		Args:    redact.Texts("token", "--audience", "registry.example.io"),
//		Env:     redact.Texts(os.Environ()...),
//		Timeout: time.Minute,
//	})
//	token := string(result.Stdout.Reveal())
//
// A plugin is somebody else's program. It may hang, flood its output, leave a grandchild that holds the pipe open,
// print a password on standard error, or not exist. [Run] gives each of these one bound and one typed error:
//
//   - [Lookup] turns a command into a path, and tells "not there" ([ErrNotFound]) from "not executable"
//     ([ErrNotExecutable]);
//   - a run ends at the caller's context ([CancelledError]), at its time limit ([TimeoutError]) or at its output limit
//     ([OutputTooLargeError]), whichever comes first, and its process group ends with it;
//   - a process that ends on its own without success is an [ExitError], with exit code, signal and the end of standard
//     error as fields.
//
// Output, arguments, environment and input are types of package redact: a command, a result or an error that is
// printed, encoded or logged shows "[redacted]" in their place, and Reveal returns the content.
//
// Use it for a child process whose output or input is a credential. execcredential (KEP-541) and credprovider
// (KEP-2133, KEP-4412) run their plugins with it. For a child that is trusted with time and memory, or whose output is
// to be streamed, os/exec is the better choice.
//
// All functions are safe for concurrent use.
package pluginexec
