// Package pluginexec runs a credential plugin as a bounded child process and keeps what it says out of logs.
//
// A plugin is somebody else's program. It may hang, flood its output, leave a grandchild that holds the pipe, print a
// password on standard error, or not exist. [Run] gives each of these one bound and one typed error:
//
//   - [Lookup] turns a command into a path, and tells "not there" ([ErrNotFound]) from "not executable" ([ErrNotExecutable]);
//   - a run ends at the caller's context, at its time limit or at its output limit, whichever comes first, and takes its
//     process group with it ([TimeoutError], [CancelledError], [OutputTooLargeError]);
//   - a run that ends by itself without success is an [ExitError], with exit code, signal and the end of standard error as fields.
//
// What it prints is a secret until somebody says otherwise: neither the output nor the arguments, environment or input appear when
// a command, a result or an error is printed, encoded or logged.
//
// execcredential (KEP-541) and credprovider (KEP-4412) run their plugins with it. A program that wants a child process and none
// of these bounds is better served by os/exec.
package pluginexec
