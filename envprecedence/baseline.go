package envprecedence

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
)

// Baseline is a container's environment, prepared once so that many execs can be merged with it. It never changes and
// is safe for concurrent use. The zero value is an empty baseline on Linux.
type Baseline struct {
	byName  index
	environ []string
}

// Prepare returns the baseline of a container's environ strings, such as the Process.Env of its OCI spec, which it
// copies. Entries without "=" or without a name are left out and returned in dropped, in order, nil if there is none.
func Prepare(container []string, p Platform) (b *Baseline, dropped []*EntryError) {
	b = &Baseline{
		byName:  newIndex(p, make([]uint32, slotsFor(len(container)))),
		environ: slices.Clone(container),
	}
	blanks, dropped := b.byName.claimAll(TierContainer, b.environ, 0, nil)
	if blanks > 0 {
		b, _ = Prepare(compact(b.environ, blanks), p) // again, because the positions moved
	}
	return b, dropped
}

// Merge returns the environment of an exec as its runtime sees it: the runtime's own entries win over those of
// ExecRequest.envs, and those over the baseline. Order, duplicates and values are as in the package's function [Merge];
// so is the error, of tier [TierRuntime] or [TierRequest]. The result is the caller's own, empty and not nil where
// there is nothing.
//
// It allocates the result and nothing else for up to 256 entries, the KEP's maximum of a request, over up to 2,048.
// Source: KEP-6035, CRI conformance tests.
func (b *Baseline) Merge(runtime, request []string) ([]string, error) {
	entries := len(runtime) + len(request)
	// The table stays on the stack.
	switch {
	case entries <= 8:
		var slots [32]uint32
		return b.merge(runtime, request, slots[:])
	case entries <= 32:
		var slots [128]uint32
		return b.merge(runtime, request, slots[:])
	case entries <= 256:
		var slots [1024]uint32
		return b.merge(runtime, request, slots[:])
	}
	return b.merge(runtime, request, make([]uint32, slotsFor(entries)))
}

func (b *Baseline) merge(runtime, request []string, slots []uint32) ([]string, error) {
	var words [32]uint64 // on the stack, for a common baseline
	below := shadow{base: b, hit: newPositions(len(b.environ), words[:])}
	seen := index{b.byName.names, slots}
	environ := make([]string, 0, len(runtime)+len(request)+len(b.environ))

	blanks := 0
	for _, s := range [...]source{{TierRuntime, runtime}, {TierRequest, request}} {
		if len(s.entries) == 0 {
			continue
		}
		start := len(environ)
		environ = append(environ, s.entries...)
		lost, malformed := seen.claimAll(s.tier, environ, start, &below)
		if malformed != nil {
			return nil, malformed[0]
		}
		blanks += lost
	}
	return appendOthers(below.hit, compact(environ, blanks), b.environ), nil
}

// Format writes how many entries there are, for every verb and flag.
func (b Baseline) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, b.text()) }

// MarshalText returns how many entries there are.
func (b Baseline) MarshalText() ([]byte, error) { return []byte(b.text()), nil }

// LogValue returns how many entries there are, for log/slog.
func (b Baseline) LogValue() slog.Value { return slog.StringValue(b.text()) }

func (b Baseline) text() string { return fmt.Sprintf("baseline of %d entries", len(b.environ)) }

// source is a tier with its entries.
type source struct {
	tier    Tier
	entries []string
}

// shadow gathers which entries of a baseline lost against an exec's.
type shadow struct {
	base *Baseline
	hit  positions
}

// find returns the position of the entry of the baseline that has this name, -1 if there is none.
func (s *shadow) find(hash uint64, name string) int {
	byName := &s.base.byName
	if byName.slots == nil || *byName.first(hash) == 0 { // a zero Baseline has no slots
		return -1
	}
	if slot := *byName.search(hash, name, s.base.environ); slot != 0 {
		return byName.position(slot)
	}
	return -1
}
