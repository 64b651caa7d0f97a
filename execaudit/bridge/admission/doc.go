// Package admission decides what the API server is told about an exec, an attach, a port-forward or an ephemeral
// container.
//
// [Read] takes an admission request apart, [Decide] answers for the mutating webhook and [Verify] for the validating
// one: values in, values out. [Handler] is the thin http edge around them, which looks the pod up and writes the
// session down before it answers.
//
// # What happens to an exec
//
// The mutating webhook puts a token (package token) first into the command where the node's Lease says that the wrapper
// will take it off (package readiness), and gives the session's ID to the audit event as an annotation. Elsewhere the
// session goes on unmarked or is refused, as [Policy] says. A command that holds something like a token already is
// refused, but for our own one of the same request: the API server calls a mutating webhook again when another one
// changed the object after it. Audit annotations cannot be set twice, so the second call keeps the session and the
// nonce, and signs the command anew if that has changed. The validating webhook sees what is finally executed, and
// refuses what another webhook put before the token. It need not be called for a command with one token, and it first,
// which the node verifies as a whole: the chart's webhook configurations spare it that.
//
// A session without a token has nothing by which a second call knows it. It gets a second record then, whose session is
// in no audit event, since the API server keeps the first annotation.
//
// # Who may call
//
// Whoever reaches the handler can have tokens made. It asks nobody who they are: put what does in front of it.
package admission
