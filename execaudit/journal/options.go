package journal

import "time"

// Defaults of Options.
const (
	DefaultSealInterval = time.Minute
	DefaultSealRecords  = 1000
)

// Options say what a Writer does beside writing records. The zero value chains records and does no more: no seals, no
// rotation.
type Options struct {
	// KeyFile is the path of a key file, which Key.Install makes: the journal is sealed with its key. One journal
	// per key file. Empty is no seals.
	KeyFile string
	// SealInterval is how often the journal is sealed at least, also when nothing was written: a seal that is missing
	// from the end of a journal shows by the time of the last one. 0 is DefaultSealInterval; negative is never.
	SealInterval time.Duration
	// SealRecords is after how many records it is sealed, no matter when. 0 is DefaultSealRecords; negative is never.
	SealRecords int
	// MaxBytes is the size from which on a file is rotated; it grows a little over it, as records do not wait for
	// that. 0 is never.
	MaxBytes int64
	// Keep is how many rotated files are kept; the oldest beyond them are deleted at a rotation. 0 is all.
	Keep int
	// Failed is told what a seal or a rotation that nobody called for could not do; the Writer tries again later. It is
	// called by one goroutine, and must not call the Writer. If nil, the next Seal, Rotate or Close tells.
	Failed func(error)
	// Now is the clock of seals; nil is time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.SealInterval == 0 {
		o.SealInterval = DefaultSealInterval
	}
	if o.SealRecords == 0 {
		o.SealRecords = DefaultSealRecords
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
