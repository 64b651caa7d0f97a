package spool

import (
	"encoding/hex"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
)

// Version is the version of the files' form.
const Version = 1

// MarkSet is the Mark of a session whose processes have the kernel's mark. Any other says why they have not.
const MarkSet = "set"

// Where is the container that a session is for.
type Where struct {
	// Node is the node's name, as the wrapper's configuration has it.
	Node string
	// Pod, Namespace and Container are names.
	PodUID, Namespace, Pod, Container string
	// ContainerID is the runtime's.
	ContainerID string
	// ExecID is the container engine's: the base name of the PID file without its ".pid", else the nonce.
	ExecID string
	// PIDFile is the file to which the runtime writes the first process's ID; empty without one.
	PIDFile string
}

// Record is a session that was let begin.
type Record struct {
	Session bridge.SessionID
	// Nonce, Expiry, Key and Requester are the token's. Key is the ID of the key that signed it, as text.
	Nonce     [16]byte
	Expiry    time.Time
	Key       string
	Requester [16]byte
	Where     Where
	// AuditID is the API server's, where the runtime has it (KEP-6035); the process then has no [bridge.SessionName].
	AuditID string
	// BootID, SessionID and LoginUID are the kernel's mark: /proc/sys/kernel/random/boot_id, and of the session's first
	// process /proc/PID/sessionid and loginuid. The last two are 0 unless Mark is [MarkSet].
	BootID              string
	SessionID, LoginUID uint32
	// Mark is [MarkSet], or why the processes have no mark.
	Mark string
	// Argv is the command that runs, without the token; at most [MaxArgvBytes]. ArgvTruncated: there was more.
	Argv          []string
	ArgvTruncated bool
	TTY           bool
	// Time is when the record was made, in UTC.
	Time time.Time
}

// MaxArgvBytes is the most of a command that a file holds: the elements' bytes, and 8 for each element.
const MaxArgvBytes = 16 << 10 // 16 KiB

// Encode returns the record's text, one line of JSON that ParseRecord takes. An Argv that is too long is cut.
func (r Record) Encode() []byte {
	argv, cut := bounded(r.Argv)
	var o jsonspan.Object
	o.Uint("version", Version)
	o.String("session", r.Session.String())
	o.String("nonce", hex.EncodeToString(r.Nonce[:]))
	o.String("expiry", moment(r.Expiry))
	o.String("key", r.Key)
	o.String("requester", hex.EncodeToString(r.Requester[:]))
	r.Where.encode(&o)
	o.String("auditID", r.AuditID)
	o.String("bootID", r.BootID)
	o.Uint("sessionID", uint64(r.SessionID))
	o.Uint("loginUID", uint64(r.LoginUID))
	o.String("mark", r.Mark)
	o.Strings("argv", argv)
	o.Bool("argvTruncated", cut || r.ArgvTruncated)
	o.Bool("tty", r.TTY)
	o.String("time", moment(r.Time))
	return o.Line()
}

// ParseRecord returns the record of a text that Encode returned. Its error is [ErrIncomplete] for a text that does not
// end as one does, [ErrMalformed] for any other that is not a record's: another version, a name missing, unknown or
// twice.
func ParseRecord(text []byte) (Record, error) {
	var r Record
	d, err := newDecoding(text)
	if err != nil {
		return Record{}, err
	}
	r.Session = d.session("session")
	r.Nonce = d.hex16("nonce")
	r.Expiry = d.moment("expiry")
	r.Key = d.string("key")
	r.Requester = d.hex16("requester")
	r.Where = d.where()
	r.AuditID = d.string("auditID")
	r.BootID = d.string("bootID")
	r.SessionID = d.uint32("sessionID")
	r.LoginUID = d.uint32("loginUID")
	r.Mark = d.string("mark")
	r.Argv = d.strings("argv")
	r.ArgvTruncated = d.bool("argvTruncated")
	r.TTY = d.bool("tty")
	r.Time = d.moment("time")
	if err := d.finish(); err != nil {
		return Record{}, err
	}
	return r, nil
}

func (w Where) encode(o *jsonspan.Object) {
	o.String("node", w.Node)
	o.String("podUID", w.PodUID)
	o.String("namespace", w.Namespace)
	o.String("pod", w.Pod)
	o.String("container", w.Container)
	o.String("containerID", w.ContainerID)
	o.String("execID", w.ExecID)
	o.String("pidFile", w.PIDFile)
}

func (d *decoding) where() Where {
	return Where{
		Node: d.string("node"), PodUID: d.string("podUID"), Namespace: d.string("namespace"), Pod: d.string("pod"),
		Container: d.string("container"), ContainerID: d.string("containerID"), ExecID: d.string("execID"), PIDFile: d.string("pidFile"),
	}
}

// bounded returns as many elements as fit into [MaxArgvBytes], the last one cut, and whether something is missing.
func bounded(argv []string) ([]string, bool) {
	left := MaxArgvBytes
	for i, element := range argv {
		if left -= 8; len(element) > left {
			kept := append([]string{}, argv[:i]...)
			if left > 0 {
				kept = append(kept, element[:left])
			}
			return kept, true
		}
		left -= len(element)
	}
	return argv, false
}
