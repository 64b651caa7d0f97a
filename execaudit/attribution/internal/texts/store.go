// Package texts keeps copies of what decoders read, and knows what they agree on about such texts.
package texts

import (
	"bytes"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
)

const (
	// AuditIDName is the environment variable that carries the audit ID (KEP-6035, Proposal).
	AuditIDName = "KUBERNETES_EXEC_AUDIT_ID"
	// ExecSessionName is the environment variable that carries a bridge's session ID (execaudit/bridge, SessionName).
	ExecSessionName = "LANYARD_EXEC_SESSION"
	// ContainerIDBytes is how much of a container ID is compared; agents cut them, none shorter than this.
	ContainerIDBytes = 12
	// MaxCommandBytes is how much of a command line is kept.
	MaxCommandBytes = 4 << 10 // 4 KiB
)

// Store makes copies of texts. They lie together in blocks, which is cheaper than one by one; a copy keeps its block
// in memory. The zero value is ready. It is for one goroutine and must not be copied.
type Store struct {
	block   strings.Builder
	scratch []byte
	recent  [64]string // names that were read last; of this block, or they would keep others in memory
}

// Decoding returns where an attribution.Batch keeps what decoders need from line to line. That package sets it, because
// it cannot offer the field to its decoders without offering it to everybody.
var Decoding func(batch any) *func() any

const blockBytes = 32 << 10

// Copy returns a copy of text.
func (s *Store) Copy(text []byte) string {
	if len(text) > blockBytes/4 {
		return string(text)
	}
	if s.block.Cap()-s.block.Len() < len(text) {
		s.block = strings.Builder{}
		s.block.Grow(blockBytes)
		clear(s.recent[:])
	}
	start := s.block.Len()
	s.block.Write(text)
	return s.block.String()[start:]
}

// Text returns a copy of what the inside of a JSON string means.
func (s *Store) Text(raw []byte) string {
	if bytes.IndexByte(raw, '\\') >= 0 {
		s.scratch = scan.AppendUnescaped(s.scratch[:0], raw)
		raw = s.scratch
	}
	return s.Copy(raw)
}

// Command is Text for a command line, cut at MaxCommandBytes.
func (s *Store) Command(raw []byte) string {
	return s.Text(raw[:min(len(raw), MaxCommandBytes)])
}

// Words returns a command line's words, each a JSON string's inside, as one text, cut at MaxCommandBytes.
func (s *Store) Words(words [][]byte) string {
	line := s.scratch[:0]
	for i, word := range words {
		if i > 0 {
			line = append(line, ' ')
		}
		line = scan.AppendUnescaped(line, word)
	}
	s.scratch = line
	return s.Copy(line[:min(len(line), MaxCommandBytes)])
}

// Name is Text for what comes again and again, such as a node's name: a repetition takes no room.
func (s *Store) Name(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	slot := &s.recent[(uint(raw[len(raw)-1])*7+uint(raw[0])*3+uint(len(raw)))%uint(len(s.recent))]
	if *slot == string(raw) {
		return *slot
	}
	name := s.Text(raw)
	if len(name) == len(raw) { // nothing was escaped
		*slot = name
	}
	return name
}
