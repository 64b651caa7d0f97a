// Package token is the signed element that carries an exec session's identity from the admission webhook to the node,
// as the first element of the exec's command.
//
//	key := token.NewKey()                                   // the webhook's
//	keys := token.Keys{key.Public()}                        // the node's
//	text, err := key.Sign(token.Token{Session: …})          // "lanyard-exec:1:…"
//	t, err := keys.Verify(text, time.Now(), 5*time.Second)  // a *Fault that says what is wrong
//
// A token is good for one pod, container, node and command ([Digest]), for at most [MaxLifetime], and, since the node
// keeps its nonce, once. It holds no user name. A usual one has about 390 bytes, none more than [MaxBytes]: far below
// Linux's 128 KiB for one argument and the limits of URLs that the command travels in.
//
// # Format
//
// The text is [Prefix], the version and a colon, and the unpadded base64url encoding of payload and signature; any
// other encoding of the same bytes is malformed, so that each token has one text. The signature is Ed25519 over
// "lanyard-exec:1:" and the payload. The payload is, with numbers in big-endian order:
//
//	 8 bytes  key ID
//	16        session ID
//	16        nonce
//	32        digest of the rest of the command
//	16        requester's tag
//	 8        not before, seconds since 1970
//	 8        expiry, seconds since 1970
//	 1        flags: 1 is unmarked, all others are 0
//	 1 + n    pod UID, and so with namespace, name, container and node: length, and that many bytes
//
// Everything here is pure and safe for concurrent use.
//
// Source: beyond KEP-6035, for clusters without it.
package token
