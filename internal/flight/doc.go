// Package flight runs a function once for all who ask for the same thing at the same time.
//
// A [Group] is what stands before a credential plugin, a token request or an access review. It differs from
// golang.org/x/sync/singleflight in what happens around the run:
//
//   - A caller whose context ends stops waiting at once. The others keep waiting.
//   - The run's context has the values of the context that began it, but not its end.
//   - The run ends with its last caller, unless [Options] say that it goes on without one. Whoever comes after that
//     begins a new run and never joins one that is about to fail.
//   - With a limit, nobody waits longer than that, whether or not the function looks at its context.
//   - A panic of the function, or the end of its goroutine, is an error of every caller.
//   - [Group.Close] ends every run and waits for the functions to return.
//
// The package imports the standard library only.
package flight
