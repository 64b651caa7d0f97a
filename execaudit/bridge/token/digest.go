package token

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Digest returns the digest of a command without its token, and of whether it has a terminal. Elements are bytes, and
// their borders count: {"a b"} and {"a", "b"} differ.
func Digest(rest []string, tty bool) [32]byte {
	h := sha256.New()
	h.Write([]byte("lanyard exec command 1\x00"))
	if tty {
		h.Write([]byte{1})
	} else {
		h.Write([]byte{0})
	}
	var buf []byte
	writeCount(h, len(rest))
	for _, element := range rest {
		buf = writeText(h, element, buf)
	}
	return [32]byte(h.Sum(nil))
}

func writeCount(h hash.Hash, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

// writeText writes a text behind its length; buf is for the copy that a hash needs, and comes back for the next one.
func writeText(h hash.Hash, text string, buf []byte) []byte {
	buf = append(binary.BigEndian.AppendUint64(buf[:0], uint64(len(text))), text...)
	h.Write(buf)
	return buf
}
