package journal

import (
	"errors"
	"fmt"
	"time"
)

// Errors of a *Break: what Verify finds.
var (
	// ErrChain: a line does not follow what stands before it. Something before it was changed, added, removed or moved.
	ErrChain = errors.New("the line does not follow what stands before it")
	// ErrSeal: a seal's MAC is not that of its key and of what stands before it.
	ErrSeal = errors.New("the seal is not of what stands before it")
	// ErrEpoch: a seal is not its key's next one: seals are missing, or come twice.
	ErrEpoch = errors.New("the seal is not the next of its key")
	// ErrUnknownKey: a seal is of another key than those that were given.
	ErrUnknownKey = errors.New("the seal is of a key that was not given")
	// ErrMissingFile: a file between others, or one that the newest file's mark says is kept, is not there.
	ErrMissingFile = errors.New("a file of the journal is missing")
	// ErrMark: a line looks like a file's mark or a seal and is none, or a mark is where none may be.
	ErrMark = errors.New("the line is not a mark or a seal as they are written")
	// ErrNoSeal: keys were given, and no seal is of one of them.
	ErrNoSeal = errors.New("the journal has no seal")
	// ErrBehind: the key file is at a later epoch than the last seal: the end of the journal is missing.
	ErrBehind = errors.New("the journal ends before the last seal that was written")
	// ErrOtherKeyFile: the key in the key file is not one that comes from a key that was given, at its epoch.
	ErrOtherKeyFile = errors.New("the key file is not this journal's")
)

// Check says what Verify is to check against. The zero value is the chain alone, which proves no more than that the
// files fit together: whoever can write them can also write the chain anew.
type Check struct {
	// Keys are the verification keys, in any order; more than one where a key file was replaced.
	Keys []Key
	// KeyFile is the path of the host's key file, or of a copy: it shows whether the end of the journal is missing.
	// Empty is not to look.
	KeyFile string
	// Until is when the host was taken, as far as known: seals after it do not count. The zero time is no limit.
	Until time.Time
}

// Position is a place between two lines of a journal.
type Position struct {
	// File is the file's path.
	File string `json:"file"`
	// Line is how many lines stand before it in the file.
	Line int `json:"line"`
	// Byte is its offset in the file.
	Byte int64 `json:"byte"`
	// Records is how many records stand before it in all files.
	Records int `json:"records"`
}

// Break is where a journal is not as it was written. It repeats nothing of a line but numbers and a key's ID.
type Break struct {
	// At is where it shows; what is wrong is there or before.
	At Position
	// Err is one of the errors above, wrapped with what was wanted.
	Err error
}

// Error returns "FILE:LINE: what is wrong", the line being the one after At.
func (b *Break) Error() string {
	return fmt.Sprintf("%s:%d: %v", b.At.File, b.At.Line+1, b.Err)
}

// Unwrap returns Err.
func (b *Break) Unwrap() error { return b.Err }

// Report is what Verify found.
type Report struct {
	// Trusted is the place up to which the last seal vouches for everything from Begin on. Its File is empty when no
	// seal does.
	Trusted Position
	// Seal is that seal.
	Seal Seal
	// First is the first seal that was checked. Of what stood before its file nothing is known but that it was
	// allowed to go.
	First Seal
	// End is the place up to which the chain holds: that of the first break, or the journal's end.
	End Position
	// Begin is the number of the first file. From 2 on, older ones were deleted.
	Begin uint64
	// Seals counts the seals that hold; without keys, those that look like one.
	Seals int
	// Torn counts lines that a crash left unfinished, and Unchained those before the chain begins, of an older version.
	Torn, Unchained int
	// Breaks are what is wrong, in the journal's order; nil for nothing. After a break of the chain nothing is looked
	// at.
	Breaks []*Break
}

// Err returns nil when nothing is wrong, else the breaks.
func (r *Report) Err() error {
	var errs []error
	for _, b := range r.Breaks {
		errs = append(errs, b)
	}
	return errors.Join(errs...)
}
