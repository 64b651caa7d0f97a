// Package oci is what a program in the place of a node's OCI runtime (runc, crun) decides: what a call asks for, what
// becomes of the process file of an exec that has a token, which pod and container a bundle is, and how the program is
// configured.
//
//	call := oci.ParseCall(os.Args[1:])       // command, ID, --root, --log, --process …
//	p, err := oci.ParseProcess(text)         // the process file
//	element, command, err := p.Split()       // the token, and what runs without it
//	bundle, err := oci.ParseBundle(config)   // in which pod and container
//	err = bundle.Check(verified)             // is the token for it?
//	text = p.Rewrite(verified.Session.String())
//
// A rewrite replaces the bytes of args[0] and adds an entry to env; every other byte stays. Everything is pure and safe
// for concurrent use; the command lanyard-oci does the rest.
package oci
