package journal

import (
	"strconv"
	"strings"
)

// Decoder reads lines of a journal, strictly and fast. The zero value is ready. It is for one goroutine and must not be
// copied.
type Decoder struct {
	block strings.Builder
	last  Record // the latest texts in block
}

// Decode reads one line, without its newline, into r, which it overwrites; after an error r is the zero Record. Argv
// is nil where the line has none or null. It keeps no reference to the line.
//
// The texts of r are copies that lie together in blocks of 32 KiB with those of other records, and records that
// follow each other share equal ones: a caller that keeps a text for long clones it.
//
// Fields it does not know are skipped; so are those whose key differs from a known one in case. Its errors repeat
// nothing of the line:
//
//   - ErrNotJSON for what is not one JSON object (or null) with a record's field types, each known key at most once,
//     or whose member "bytes", which has the texts that are not UTF-8, does not fit them
//   - *Fault, from Record.Validate
//
// It takes the same values as encoding/json with the same result, apart from keys: encoding/json takes a key in any
// case for a field's, and the last of two for the one that counts, so that two readers of one line would see two
// records.
func (d *Decoder) Decode(line []byte, r *Record) error {
	*r = Record{}
	on := decoding{scanner: scanner{line: line}, Decoder: d}
	var err error = ErrNotJSON
	if on.record(r) && on.atEnd() {
		err = r.Validate()
	}
	if err != nil {
		*r = Record{}
	}
	return err
}

// decoding is a Decoder's work on one line. Its methods report whether the next value had the field's type; each takes
// null for the field's absence, as encoding/json does.
type decoding struct {
	*Decoder
	scanner
	seen  uint32 // a bit for each known key
	bytes []byte // the member of texts that are not UTF-8
}

func (d *decoding) record(r *Record) bool {
	if d.peek() == 'n' {
		return d.literal("null")
	}
	ok := d.members(func(key []byte) bool { return d.member(key, r) })
	if ok && d.bytes != nil {
		return r.restore(d.bytes)
	}
	return ok
}

// Bits of decoding.seen.
const (
	sawVersion = 1 << iota
	sawKind
	sawTime
	sawNode
	sawContainerID
	sawExecID
	sawAuditID
	sawExecSession
	sawSandboxID
	sawNamespace
	sawPod
	sawPodUID
	sawContainer
	sawPID
	sawStartTicks
	sawBootID
	sawSessionID
	sawLoginUID
	sawArgv
	sawArgvTruncated
	sawTTY
	sawExitCode
	sawReason
	sawBytes
)

// member reads the value of a key. It is long because it names each field once.
func (d *decoding) member(key []byte, r *Record) bool {
	switch string(key) {
	case "version":
		return d.first(sawVersion) && d.integer(&r.Version)
	case "kind":
		return d.first(sawKind) && d.kind(&r.Kind)
	case "time":
		return d.first(sawTime) && d.time(r)
	case "node":
		return d.first(sawNode) && d.string(&r.Node, &d.last.Node)
	case "containerID":
		return d.first(sawContainerID) && d.string(&r.ContainerID, &d.last.ContainerID)
	case "execID":
		return d.first(sawExecID) && d.string(&r.ExecID, &d.last.ExecID)
	case "auditID":
		return d.first(sawAuditID) && d.string(&r.AuditID, &d.last.AuditID)
	case "execSession":
		return d.first(sawExecSession) && d.string(&r.ExecSession, &d.last.ExecSession)
	case "sandboxID":
		return d.first(sawSandboxID) && d.string(&r.SandboxID, &d.last.SandboxID)
	case "namespace":
		return d.first(sawNamespace) && d.string(&r.Namespace, &d.last.Namespace)
	case "pod":
		return d.first(sawPod) && d.string(&r.Pod, &d.last.Pod)
	case "podUID":
		return d.first(sawPodUID) && d.string(&r.PodUID, &d.last.PodUID)
	case "container":
		return d.first(sawContainer) && d.string(&r.Container, &d.last.Container)
	case "pid":
		return d.first(sawPID) && d.integer(&r.PID)
	case "startTicks":
		return d.first(sawStartTicks) && d.startTicks(r)
	case "bootID":
		return d.first(sawBootID) && d.string(&r.BootID, &d.last.BootID)
	case "sessionID":
		return d.first(sawSessionID) && d.mark(&r.SessionID)
	case "loginUID":
		return d.first(sawLoginUID) && d.mark(&r.LoginUID)
	case "argv":
		return d.first(sawArgv) && d.strings(&r.Argv)
	case "argvTruncated":
		return d.first(sawArgvTruncated) && d.boolean(&r.ArgvTruncated)
	case "tty":
		return d.first(sawTTY) && d.boolean(&r.TTY)
	case "exitCode":
		return d.first(sawExitCode) && d.exitCode(r)
	case "reason":
		return d.first(sawReason) && d.string(&r.Reason, &d.last.Reason)
	case bytesKey:
		return d.first(sawBytes) && d.odd()
	}
	return d.value(1)
}

// first reports whether the key of this bit comes for the first time.
func (d *decoding) first(bit uint32) bool {
	again := d.seen&bit != 0
	d.seen |= bit
	return !again
}

func (d *decoding) null() bool {
	return d.peek() == 'n' && d.literal("null")
}

// string reads a text, and takes the one that was read last for the field where it is the same.
func (d *decoding) string(into, last *string) bool {
	if d.null() {
		return true
	}
	start, plain, ok := d.quoted()
	if !ok {
		return false
	}
	if raw := d.line[start : d.pos-1]; !plain || string(raw) != *last {
		*last = d.copied(raw, plain)
	}
	*into = *last
	return true
}

const blockBytes = 32 << 10 // 32 KiB

// copied returns what the inside of a string means.
func (d *decoding) copied(inside []byte, plain bool) string {
	if !plain {
		inside = unquoted(inside)
	}
	if len(inside) > blockBytes/4 {
		return string(inside)
	}
	if d.block.Cap()-d.block.Len() < len(inside) {
		d.block = strings.Builder{}
		d.block.Grow(blockBytes)
		d.last = Record{} // or it would keep other blocks in memory
	}
	start := d.block.Len()
	d.block.Write(inside)
	return d.block.String()[start:]
}

func (d *decoding) kind(into *Kind) bool {
	if d.null() {
		return true
	}
	start, plain, ok := d.quoted()
	if !ok {
		return false
	}
	for _, known := range [...]Kind{KindIntent, KindStart, KindEnd, KindRefusal} {
		if string(d.line[start:d.pos-1]) == string(known) {
			*into = known
			return true
		}
	}
	*into = Kind(d.copied(d.line[start:d.pos-1], plain))
	return true
}

// odd keeps the member of texts that are not UTF-8 until all of them are read.
func (d *decoding) odd() bool {
	if d.null() {
		return true
	}
	start := d.pos
	ok := d.peek() == '{' && d.value(1)
	d.bytes = d.line[start:d.pos]
	return ok
}

func (d *decoding) time(r *Record) bool {
	d.peek()
	start := d.pos
	return d.value(1) && r.Time.UnmarshalJSON(d.line[start:d.pos]) == nil
}

func (d *decoding) strings(into *[]string) bool {
	if d.null() {
		return true
	}
	var room [8]string // most command lines are short: one allocation then
	list := room[:0]
	if !d.elements(func() bool {
		var word, none string
		ok := d.string(&word, &none)
		list = append(list, word)
		return ok
	}) {
		return false
	}
	*into = append(make([]string, 0, len(list)), list...)
	return true
}

func (d *decoding) boolean(into *bool) bool {
	switch d.peek() {
	case 't':
		*into = true
		return d.literal("true")
	case 'f':
		return d.literal("false")
	}
	return d.null()
}

func (d *decoding) integer(into *int) bool {
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
func (d *decoding) unsigned(bits int) (uint64, bool) {
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

func (d *decoding) startTicks(r *Record) (ok bool) {
	r.StartTicks, ok = d.unsigned(64)
	return ok
}

// mark reads one of the two numbers that the kernel marks a session with.
func (d *decoding) mark(into *uint32) bool {
	n, ok := d.unsigned(32)
	*into = uint32(n)
	return ok
}

func (d *decoding) exitCode(r *Record) bool {
	if d.null() {
		return true
	}
	r.ExitCode = new(int)
	return d.integer(r.ExitCode)
}
