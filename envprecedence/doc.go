// Package envprecedence decides which value of an environment variable an exec'd process sees.
//
// An exec session's environment comes from up to five places: the runtime, the kubelet, the API server, the caller and
// the container. [Merge] combines them by KEP-6035, "Environment Variable Precedence": the higher tier wins, within a
// tier the last entry wins, and every key appears once. Keeping a key once matters: readers disagree about duplicates
// (glibc and Go read the first, shells and runc the last), so a duplicate audit ID could tell an agent one thing and
// the process another.
//
// A runtime execs into one container again and again, and sees two sources: its own entries and those of the request.
// It calls [Prepare] once per container and [Baseline.Merge] once per exec:
//
//	base, dropped := envprecedence.Prepare(spec.Process.Env, envprecedence.PlatformLinux)
//	request, err := envprecedence.Environ(entries, 0) // entries of ExecRequest.envs; refuses what execve would
//	env, err := base.Merge(nil, request)
//
// Environments are OCI environ strings, NAME=VALUE, as in os.Environ and specs.Process.Env. Values are literal: nothing
// is expanded, trimmed or unset. [Environ] and [Validate] refuse what execve or CRI would refuse, before a process is
// started, and [Explain] says for each key which entry won over which others. No error of this package holds a value,
// and an [Entry] shows its name alone; [Resolve] is the merge for entries.
//
// Every function is pure and safe for concurrent use. Beyond the standard library the package imports redact. To
// validate what a caller may send in PodExecOptions.Env (name pattern, reserved names, limits), use the execaudit
// module.
package envprecedence
