package envprecedence

// Baseline is a container's environment, prepared once so that many execs can be merged with it. It never changes and is
// safe for concurrent use.
type Baseline struct {
	byName  index
	environ []string
}

// Prepare returns the baseline of a container's environ strings, such as the Process.Env of its OCI spec, which it copies.
// Entries without "=" or without a name are left out and returned in dropped, in order, nil if there is none.
func Prepare(container []string, p Platform) (b *Baseline, dropped []*EntryError) {
	m := newMerger(len(container), p)
	dropped = m.add(Container, container)
	b = &Baseline{environ: m.environ()}
	b.byName = index{names: m.seen.names, slots: m.seen.slots}
	clear(b.byName.slots)
	for i, s := range b.environ {
		eq, _ := separator(s)
		b.byName.add(s[:eq], b.environ[:i])
	}
	return b, dropped
}

// Merge returns the environment of an exec as its runtime sees it: the runtime's own entries win over those of
// ExecRequest.envs, and those over the baseline. Order, duplicates and values are as in the package's function [Merge]; so
// is the error, the first malformed entry, of tier Runtime or [Request]. The result is the caller's own.
func (b *Baseline) Merge(runtime, request []string) ([]string, error) {
	m := newMerger(len(runtime)+len(request)+len(b.environ), Linux)
	m.seen.names = b.byName.names
	for i, list := range [2][]string{runtime, request} {
		if malformed := m.add([2]Tier{Runtime, Request}[i], list); malformed != nil {
			return nil, malformed[0]
		}
	}
	m.add(Container, b.environ)
	return m.environ(), nil
}
