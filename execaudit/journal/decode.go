package journal

import "strconv"

// Decode reads one line of a journal, without its newline, into r, which it overwrites; after an error r is the zero
// Record. The texts of r are copies that share one allocation of the line's length: a caller that keeps a short one for
// long clones it. Argv is nil where the line has none or null.
//
// Fields it does not know are skipped; so are those whose key differs from a known one in case. Its errors repeat nothing
// of the line:
//
//   - ErrNotJSON for what is not one JSON object (or null) with a record's field types, each known key at most once
//   - *Fault, from Record.Validate
//
// It takes the same values as encoding/json with the same result, apart from keys: encoding/json takes a key in any case
// for a field's, and the last of two for the one that counts, so that two readers of one line would see two records.
func Decode(line []byte, r *Record) error {
	*r = Record{}
	d := decoder{scanner: scanner{line: line}}
	var err error = ErrNotJSON
	if d.record(r) && d.atEnd() {
		if err = r.Validate(); err == nil {
			return nil
		}
	}
	*r = Record{}
	return err
}

// decoder fills a record with what a scanner finds. Its methods report whether the next value had the field's type; each
// takes null for the field's absence, as encoding/json does.
type decoder struct {
	scanner
	seen uint32 // a bit for each known key
	text string // the line, copied for the first text taken from it
}

func (d *decoder) record(r *Record) bool {
	if d.peek() == 'n' {
		return d.literal("null")
	}
	return d.members(func(key []byte) bool { return d.member(key, r) })
}

// Bits of decoder.seen.
const (
	sawVersion = 1 << iota
	sawKind
	sawTime
	sawArgv
	sawArgvTruncated
	sawTTY
	sawExitCode
	sawReason
	sawPID
	sawStartTicks
	sawBootID
	sawSessionID
	sawNode
	sawContainerID
	sawExecID
	sawAuditID
	sawSandboxID
	sawNamespace
	sawPod
	sawPodUID
	sawContainer
)

func (d *decoder) member(key []byte, r *Record) bool {
	switch string(key) {
	case "version":
		return d.first(sawVersion) && d.integer(&r.Version)
	case "kind":
		return d.first(sawKind) && d.kind(&r.Kind)
	case "time":
		return d.first(sawTime) && d.time(r)
	case "argv":
		return d.first(sawArgv) && d.strings(&r.Argv)
	case "argvTruncated":
		return d.first(sawArgvTruncated) && d.boolean(&r.ArgvTruncated)
	case "tty":
		return d.first(sawTTY) && d.boolean(&r.TTY)
	case "exitCode":
		return d.first(sawExitCode) && d.exitCode(r)
	case "reason":
		return d.first(sawReason) && d.string(&r.Reason)
	}
	if known, ok := d.process(key, &r.Process); known {
		return ok
	}
	if known, ok := d.session(key, &r.Session); known {
		return ok
	}
	return d.value(1)
}

func (d *decoder) process(key []byte, p *Process) (known, ok bool) {
	switch string(key) {
	case "pid":
		return true, d.first(sawPID) && d.integer(&p.PID)
	case "startTicks":
		n, ok := d.unsigned(64)
		p.StartTicks = n
		return true, ok && d.first(sawStartTicks)
	case "bootID":
		return true, d.first(sawBootID) && d.string(&p.BootID)
	case "sessionID":
		n, ok := d.unsigned(32)
		p.SessionID = uint32(n)
		return true, ok && d.first(sawSessionID)
	}
	return false, false
}

func (d *decoder) session(key []byte, s *Session) (known, ok bool) {
	switch string(key) {
	case "node":
		return true, d.first(sawNode) && d.string(&s.Node)
	case "containerID":
		return true, d.first(sawContainerID) && d.string(&s.ContainerID)
	case "execID":
		return true, d.first(sawExecID) && d.string(&s.ExecID)
	case "auditID":
		return true, d.first(sawAuditID) && d.string(&s.AuditID)
	case "sandboxID":
		return true, d.first(sawSandboxID) && d.string(&s.SandboxID)
	case "namespace":
		return true, d.first(sawNamespace) && d.string(&s.Namespace)
	case "pod":
		return true, d.first(sawPod) && d.string(&s.Pod)
	case "podUID":
		return true, d.first(sawPodUID) && d.string(&s.PodUID)
	case "container":
		return true, d.first(sawContainer) && d.string(&s.Container)
	}
	return false, false
}

// first reports whether the key of this bit comes for the first time.
func (d *decoder) first(bit uint32) bool {
	again := d.seen&bit != 0
	d.seen |= bit
	return !again
}

func (d *decoder) null() bool {
	return d.peek() == 'n' && d.literal("null")
}

func (d *decoder) string(into *string) bool {
	if d.null() {
		return true
	}
	start, plain, ok := d.quoted()
	if ok {
		*into = d.copied(start, d.pos-1, plain)
	}
	return ok
}

// copied returns the text that the inside of a string, line[start:end], means.
func (d *decoder) copied(start, end int, plain bool) string {
	if !plain {
		return string(unquoted(d.line[start:end]))
	}
	if d.text == "" {
		d.text = string(d.line)
	}
	return d.text[start:end]
}

func (d *decoder) kind(into *Kind) bool {
	if d.null() {
		return true
	}
	start, plain, ok := d.quoted()
	if !ok {
		return false
	}
	for _, known := range [...]Kind{KindIntent, KindStart, KindEnd} {
		if string(d.line[start:d.pos-1]) == string(known) {
			*into = known
			return true
		}
	}
	*into = Kind(d.copied(start, d.pos-1, plain))
	return true
}

func (d *decoder) time(r *Record) bool {
	d.peek()
	start := d.pos
	return d.value(1) && r.Time.UnmarshalJSON(d.line[start:d.pos]) == nil
}

func (d *decoder) strings(into *[]string) bool {
	if d.null() {
		return true
	}
	var room [8]string // most command lines are short: one allocation then
	list := room[:0]
	if !d.elements(func() bool {
		list = append(list, "")
		return d.string(&list[len(list)-1])
	}) {
		return false
	}
	*into = append(make([]string, 0, len(list)), list...)
	return true
}

func (d *decoder) boolean(into *bool) bool {
	switch d.peek() {
	case 't':
		*into = true
		return d.literal("true")
	case 'f':
		return d.literal("false")
	}
	return d.null()
}

func (d *decoder) integer(into *int) bool {
	if d.null() {
		return true
	}
	number, ok := d.number()
	if !ok {
		return false
	}
	n, err := strconv.ParseInt(string(number), 10, strconv.IntSize)
	*into = int(n)
	return err == nil
}

// unsigned returns 0 for null.
func (d *decoder) unsigned(bits int) (uint64, bool) {
	if d.null() {
		return 0, true
	}
	number, ok := d.number()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(string(number), 10, bits)
	return n, err == nil
}

func (d *decoder) exitCode(r *Record) bool {
	if d.null() {
		return true
	}
	r.ExitCode = new(int)
	return d.integer(r.ExitCode)
}
