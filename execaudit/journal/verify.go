package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Verify checks the files of a journal, oldest first, as Files returns them. Its error is the system's, of a file that
// cannot be read; what is wrong with the journal is in the Report.
func Verify(files []string, c Check) (*Report, error) {
	v := newVerifier(c)
	for i, path := range files {
		if err := v.file(path, i == len(files)-1); err != nil || v.broken {
			return &v.report, err
		}
	}
	return &v.report, v.finish(c.KeyFile)
}

type verifier struct {
	keyed  bool
	until  time.Time
	keys   map[string]*signer
	report Report
	broken bool
	sealed bool // a seal was seen

	at      Position
	begun   bool   // a file was read
	marked  bool   // the file has its mark
	chained bool   // the chain has begun
	head    digest // after what was read
	number  uint64 // of the file; 0 before the first mark
	oldest  uint64 // as the last mark that counts says
	noted   uint64 // as the last mark says
	decoder Decoder
}

// signer is a key and its next epoch.
type signer struct {
	key  *ratchet // nil without the key
	seen bool
	next uint64
}

func newVerifier(c Check) *verifier {
	v := &verifier{keyed: len(c.Keys) > 0, until: c.Until, keys: map[string]*signer{}}
	for _, k := range c.Keys {
		if k.hidden != nil {
			v.keys[k.ID()] = &signer{key: k.ratchet()}
		}
	}
	return v
}

var errBroken = errors.New("broken")

func (v *verifier) file(path string, last bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = v.read(f, path, last)
	return errors.Join(err, f.Close())
}

func (v *verifier) read(r io.Reader, path string, last bool) error {
	v.at, v.marked = Position{File: path, Records: v.at.Records}, false
	closed := true
	head, err := walk(r, v.head, func(l *line) error {
		closed = l.closed
		if isFileMark(l.text) && l.number == 1 && v.begun && l.prev != v.head {
			return v.stop(v.missingFile(l))
		}
		return v.line(l, path)
	})
	switch {
	case err != nil:
	case !last && !v.marked:
		err = v.stop(fmt.Errorf("%w: the file has none", ErrMark))
	case !last && !closed:
		err = v.stop(fmt.Errorf("%w: the file's last line has no end", ErrChain))
	}
	v.head, v.begun, v.report.End = head, true, v.at
	if errors.Is(err, errBroken) {
		return nil
	}
	return err
}

// missingFile says what is wrong where a file does not follow the one before.
func (v *verifier) missingFile(l *line) error {
	if m, ok := parseFileMark(l.text); ok && m.File > v.number+1 {
		return fmt.Errorf("%w: %d follows %d", ErrMissingFile, m.File, v.number)
	}
	return fmt.Errorf("%w: nor does the file follow the one before", ErrChain)
}

// stop notes what is wrong here and ends the reading.
func (v *verifier) stop(err error) error {
	v.note(err)
	v.broken = true
	return errBroken
}

func (v *verifier) note(err error) {
	v.report.Breaks = append(v.report.Breaks, &Break{At: v.at, Err: err})
}

func (v *verifier) line(l *line, path string) error {
	if l.linked && l.prev != l.before {
		return v.stop(ErrChain)
	}
	if l.linked && !v.marked && !isFileMark(l.text) {
		return v.stop(fmt.Errorf("%w: the file has none", ErrMark))
	}
	if err := v.kind(l, path); err != nil {
		return v.stop(err)
	}
	v.at.Line, v.at.Byte = l.number, l.end
	v.chained = v.chained || l.linked
	return nil
}

func (v *verifier) kind(l *line, path string) error {
	switch {
	case isFileMark(l.text):
		return v.mark(l, path)
	case isSeal(l.text):
		s, ok := parseSeal(l.text)
		if !ok {
			return v.unwritten(l)
		}
		return v.seal(l, &s)
	case !l.linked && v.chained:
		v.report.Torn++
	case !l.linked:
		v.report.Unchained++
	}
	var r Record
	if v.decoder.Decode(l.text, &r) == nil {
		v.at.Records++
	}
	return nil
}

// unwritten judges a line that begins as a mark or a seal: a crash can have cut it.
func (v *verifier) unwritten(l *line) error {
	if l.linked {
		return ErrMark
	}
	v.report.Torn++
	return nil
}

func (v *verifier) mark(l *line, path string) error {
	m, ok := parseFileMark(l.text)
	switch {
	case !ok:
		return v.unwritten(l)
	case v.marked, v.number > 0 && m.File != v.number+1, m.File == 1 && l.number == 1 && l.prev != digest{}:
		return v.misplaced(&m)
	}
	v.marked = true
	if n, ok := numberOf(path); ok && n != m.File {
		return fmt.Errorf("%w: the file is %d", ErrMark, m.File)
	}
	if v.number == 0 {
		v.report.Begin = m.File
	}
	v.number, v.noted = m.File, m.Oldest
	if !v.keyed {
		v.oldest = m.Oldest
	}
	return nil
}

func (v *verifier) misplaced(m *fileMark) error {
	if !v.marked && m.File > v.number+1 {
		return fmt.Errorf("%w: %d follows %d", ErrMissingFile, m.File, v.number)
	}
	return fmt.Errorf("%w: file %d follows %d", ErrMark, m.File, v.number)
}

func (v *verifier) seal(l *line, s *parsedSeal) error {
	k := v.keys[s.KeyID]
	if k == nil {
		if v.keyed {
			return fmt.Errorf("%w: %q", ErrUnknownKey, printable(s.KeyID))
		}
		k = new(signer)
		v.keys[s.KeyID] = k
	}
	if err := v.epoch(k, s.Epoch); err != nil {
		return err
	}
	if k.key != nil && (!k.key.seek(s.Epoch) || !s.holds(&l.before, k.key)) {
		return ErrSeal
	}
	k.seen, k.next = true, s.Epoch+1
	if !v.sealed {
		v.sealed, v.report.First = true, s.Seal
	}
	if !v.until.IsZero() && s.Time.After(v.until) {
		return nil
	}
	v.report.Seals++
	if v.keyed {
		v.oldest, v.report.Seal = v.noted, s.Seal
		v.report.Trusted = Position{File: v.at.File, Line: l.number, Byte: l.end, Records: v.at.Records}
	}
	return nil
}

// epoch wants a seal to be the next of its key. Where a journal does not begin with its first file, its first seal may
// be any.
func (v *verifier) epoch(k *signer, epoch uint64) error {
	switch {
	case k.seen && epoch != k.next:
		return fmt.Errorf("%w: %d follows %d", ErrEpoch, epoch, k.next-1)
	case !k.seen && epoch != 0 && (v.sealed || v.report.Begin <= 1):
		return fmt.Errorf("%w: %d is the first one", ErrEpoch, epoch)
	}
	return nil
}

// finish checks what only shows at the end.
func (v *verifier) finish(keyFile string) error {
	vouched := !v.keyed || v.report.Trusted.File != ""
	if vouched && v.report.Begin > max(v.oldest, 1) {
		v.note(fmt.Errorf("%w: files from %d on are kept, and the first is %d", ErrMissingFile, max(v.oldest, 1), v.report.Begin))
	}
	if !vouched {
		v.note(ErrNoSeal)
	}
	if keyFile == "" {
		return nil
	}
	return v.keyFile(keyFile)
}

// keyFile compares the host's key with the last seal.
func (v *verifier) keyFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	host, _, ok := newestSlot(text)
	if !ok {
		return fmt.Errorf("%w: %s", ErrKeyFile, path)
	}
	defer host.erase()
	k := v.keys[host.id]
	switch {
	case k == nil, k.key != nil && !k.matches(&host):
		v.note(fmt.Errorf("%w: it is at epoch %d", ErrOtherKeyFile, host.epoch))
	case host.epoch > k.next:
		v.note(fmt.Errorf("%w: %d were, and it has %d", ErrBehind, host.epoch, k.next))
	}
	return nil
}

// matches reports whether the host's key is this one's at its epoch: the one after the last seal's, or after a crash
// that one.
func (k *signer) matches(host *ratchet) bool {
	key := *k.key
	return key.seek(host.epoch) && key.key == host.key && key.next == host.next
}

// numberOf returns the number in the name of a rotated file.
func numberOf(path string) (uint64, bool) {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '.' {
			return rotatedNumber(path[:i], path)
		}
	}
	return 0, false
}

// printable bounds a text of a line in an error.
func printable(text string) string { return text[:min(len(text), 16)] }
