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
// [Secret] holds a credential that no formatting verb, JSON encoder or slog handler prints.
//
// The package is internal to Lanyard: execcredential (KEP-541) and credprovider (KEP-4412) are its only users. A program
// that wants a child process and none of these bounds is better served by os/exec.
package pluginexec
