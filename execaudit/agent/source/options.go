package source

import (
	"cmp"
	"errors"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// ErrInterrupted is returned by Reader.Read after Reader.Interrupt.
var ErrInterrupted = errors.New("reading was interrupted")

// Reader gives observations. Read is for one goroutine; the others may be called by any.
type Reader interface {
	// Read waits for the next observation. What o refers to holds until the next Read. Errors: io.EOF when nothing more
	// comes, ErrInterrupted, or what ends the reading otherwise.
	Read(o *agent.Observation) error
	// Interrupt makes Read return, now and from now on, once it has given what was there already.
	Interrupt()
	// Told tells that the first n of all observations that Read gave need not be read again by another Reader, and that
	// the first lost of those that were lost were told. Observations of the n that an output misses and was not told of
	// yet are taken from lost, which may be below 0: another Reader is to count them among its Lost.
	Told(n uint64, lost int64) error
	// Counters returns what is missing so far.
	Counters() (Counters, error)
}

// Counters are what a Reader knows of what it could not give, since it was made or, where the kernel's programs outlive
// their reader, since the last one told.
type Counters struct {
	// Lost observations are missing, at most.
	Lost int64
	// Gaps is how often an unknown number was lost.
	Gaps int64
}

// Output takes what the agent tells. Its methods are called by one goroutine.
type Output interface {
	// Write takes events, and notices that came after them. They hold until it returns, and must not be changed. After an
	// error the notices are offered again, and one of how many events are missing before them; the events are not.
	Write(events []*agent.Event, notices []*agent.Notice) error
	// Close is called once, after the last Write.
	Close() error
}

// Defaults of Options.
const (
	DefaultProc        = "/proc"
	DefaultCgroupRoot  = "/sys/fs/cgroup"
	DefaultLogs        = "/var/log/containers"
	DefaultQueueBytes  = 8 << 20  // 8 MiB
	DefaultAnswerBytes = 16 << 20 // 16 MiB
)

// Options say what a Source does. Reader and Node are required.
type Options struct {
	// Node is the node's name.
	Node string
	// Reader gives the observations; the caller closes what is behind it after Run.
	Reader Reader
	// Origin is what the Reader's observations are made by, for the status.
	Origin agent.Origin
	// Blind are things that cannot be seen, in sentences for people; each becomes a notice.
	Blind []string
	// Journals are paths of exec journals, which need not exist yet.
	Journals []string
	// Waiting returns the records that wait to be written to a journal; nil is none. It is called when an event's record
	// is in no journal.
	Waiting func() ([]journal.Record, error)
	// Outputs get every event and notice.
	Outputs []Output
	// Answers gets the session of each event as far as it is known, and again when that changes; nil is none. It is called
	// by one goroutine at a time, and what it is given holds until it returns.
	Answers func(*attribution.Answer)
	// Attribution tunes the answers; its MaxBytes of 0 means DefaultAnswerBytes.
	Attribution attribution.Options
	// Tracker tunes what is kept and told. Node, BootID, Boot, MountNS and Container are the Source's to set. Where
	// arguments are hashed without a key, the Source makes one, so that hashes compare among its own lines only.
	Tracker agent.Options
	// QueueBytes bounds what waits for one output; 0 means DefaultQueueBytes.
	QueueBytes int
	// Proc and CgroupRoot are where these file systems are; empty means the defaults.
	Proc, CgroupRoot string
	// Logs is the kubelet's directory of containers' logs, POD_NAMESPACE_CONTAINER-ID.log, by whose names containers are
	// named of which no record tells; empty means the default. It need not exist.
	Logs string
	// BootID is the boot's, for a recording; empty means this one's.
	BootID string
	// NoWalk looks neither for the processes that ran before nor whether those that are known are still there: for a
	// recording.
	NoWalk bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.Proc, o.CgroupRoot = cmp.Or(o.Proc, DefaultProc), cmp.Or(o.CgroupRoot, DefaultCgroupRoot)
	o.Logs = cmp.Or(o.Logs, DefaultLogs)
	o.QueueBytes = cmp.Or(o.QueueBytes, DefaultQueueBytes)
	o.Attribution.MaxBytes = cmp.Or(o.Attribution.MaxBytes, DefaultAnswerBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
