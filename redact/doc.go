// Package redact holds what must not be shown: credentials, environment values, arguments of a login, output of a
// child.
//
// A [Text] or [Bytes] prints as "[redacted]" by every verb of fmt, by encoding/json and other encoders, and by
// log/slog: alone, inside slices, maps and structs, and also inside somebody's unexported field, where fmt calls no
// method. Whoever needs the content says so:
//
//	token := redact.New("open-sesame")
//	fmt.Println(token)          // [redacted]
//	request.Header.Set("Authorization", "Bearer "+token.Reveal())
//
// Writing one to the wire is therefore an explicit call, and a search for Reveal finds every place where content
// leaves. Nothing is encrypted or wiped: a debugger or a core dump shows it.
//
// The package imports the standard library only and is safe for concurrent use, like strings are.
package redact
