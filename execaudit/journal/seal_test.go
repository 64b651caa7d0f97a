package journal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// sealed is a journal with a key file, in a directory of its own.
type sealed struct {
	dir, path, keyFile string
	key                journal.Key
	options            journal.Options
}

func newSealed(t *testing.T) *sealed {
	t.Helper()
	dir := t.TempDir()
	s := &sealed{dir: dir, path: filepath.Join(dir, "journal"), keyFile: filepath.Join(dir, "key"), key: journal.NewKey()}
	if err := s.key.Install(s.keyFile); err != nil {
		t.Fatal(err)
	}
	s.options = journal.Options{KeyFile: s.keyFile, SealInterval: -1, SealRecords: -1}
	return s
}

// in returns the same journal where it was copied to.
func (s *sealed) in(dir string) *sealed {
	c := *s
	c.dir, c.path, c.keyFile = dir, filepath.Join(dir, "journal"), filepath.Join(dir, "key")
	c.options.KeyFile = c.keyFile
	return &c
}

func (s *sealed) open(t *testing.T) *journal.Writer {
	t.Helper()
	w, err := journal.Open(s.path, s.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func (s *sealed) files(t *testing.T) []string {
	t.Helper()
	files, err := journal.Files(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// verify checks with the key, and against the key file.
func (s *sealed) verify(t *testing.T) *journal.Report {
	t.Helper()
	return mustVerify(t, s.files(t), journal.Check{Keys: []journal.Key{s.key}, KeyFile: s.keyFile})
}

func mustVerify(t *testing.T, files []string, c journal.Check) *journal.Report {
	t.Helper()
	r, err := journal.Verify(files, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// records returns all of a journal's, and the faults of its lines.
func (s *sealed) records(t *testing.T) (records []journal.Record, faults []error) {
	t.Helper()
	for _, name := range s.files(t) {
		more, bad := readAll(t, mustRead(t, name))
		records, faults = append(records, more...), append(faults, bad...)
	}
	return records, faults
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSeal(t *testing.T) {
	t.Run("EXA-39 what is sealed is trusted, what comes later not yet", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		mustAppend(t, w, journal.Intent(session, []string{"id"}, true, at))
		mustDo(t, w.Seal())
		size := len(mustRead(t, s.path))
		mustAppend(t, w, journal.Start(session, process, at))
		r := s.verify(t)
		if r.Err() != nil || r.Trusted.Byte != int64(size) || r.Trusted.Records != 1 || r.End.Records != 2 || r.Seal.Epoch != 1 || r.Seal.Cause != journal.CauseCall || r.Begin != 1 {
			t.Errorf("report %+v", r)
		}
		mustDo(t, w.Close())
		r = s.verify(t)
		if r.Err() != nil || r.Trusted != r.End || r.Trusted.Records != 2 || r.Seal.Cause != journal.CauseClose || r.Seals != 3 {
			t.Errorf("report after Close %+v", r)
		}
	})
	t.Run("EXA-39 without a key only the chain is checked, and nothing trusted", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		mustAppend(t, w, journal.Intent(session, nil, true, at))
		mustDo(t, w.Close())
		if r := mustVerify(t, s.files(t), journal.Check{}); r.Err() != nil || r.Trusted.File != "" || r.End.Records != 1 || r.Seals != 2 {
			t.Errorf("report %+v", r)
		}
		lines := bytes.SplitAfter(mustRead(t, s.path), []byte("\n"))
		mustWrite(t, s.path, string(bytes.Join(append(lines[:1], lines[2:]...), nil)))
		if r := mustVerify(t, s.files(t), journal.Check{}); !errors.Is(r.Err(), journal.ErrChain) {
			t.Errorf("a line is missing, and the report says %v", r.Err())
		}
	})
	t.Run("EXA-39 a journal without a key file is chained and has no seals", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal")
		appendTo(t, path, journal.Intent(session, nil, false, at))
		appendTo(t, path, journal.Start(session, process, at))
		if r := mustVerify(t, []string{path}, journal.Check{}); r.Err() != nil || r.End.Records != 2 || r.Seals != 0 {
			t.Errorf("report %+v", r)
		}
		if r := mustVerify(t, []string{path}, journal.Check{Keys: []journal.Key{journal.NewKey()}}); !errors.Is(r.Err(), journal.ErrNoSeal) {
			t.Errorf("with a key: %v", r.Err())
		}
	})
	t.Run("EXA-39 readers pass over marks and seals and say nothing, and report one that is torn", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		mustAppend(t, w, journal.Intent(session, nil, false, at))
		mustDo(t, w.Close())
		if records, faults := s.records(t); len(records) != 1 || faults != nil {
			t.Errorf("read %v, %v", records, faults)
		}
		data := mustRead(t, s.path)
		if records, faults := readAll(t, data[:len(data)-9]); len(records) != 1 || len(faults) != 1 {
			t.Errorf("read %v, %v of a torn seal", records, faults)
		}
	})
	t.Run("EXA-39 a journal of an older version is taken up, and covered by the first seal", func(t *testing.T) {
		s := newSealed(t)
		d := newDisk()
		plain := journal.NewWriter(d)
		for i := range 3 {
			mustAppend(t, plain, journal.End(session, process, i, at))
		}
		mustWrite(t, s.path, d.written.String()+`{"version":1,"torn`)
		w := s.open(t)
		mustAppend(t, w, journal.End(session, process, 3, at))
		mustDo(t, w.Close())
		if r := s.verify(t); r.Err() != nil || r.Unchained != 4 || r.Trusted.Records != 4 || r.Trusted != r.End {
			t.Errorf("report %+v", r)
		}
		data := mustRead(t, s.path)
		mustWrite(t, s.path, strings.Replace(string(data), `"exitCode":1`, `"exitCode":9`, 1))
		if r := s.verify(t); !errors.Is(r.Err(), journal.ErrChain) || r.Trusted.File != "" {
			t.Errorf("an old record was changed: %+v", r)
		}
	})
	t.Run("EXA-39 seals come by themselves: by records, and by the clock when nothing is written", func(t *testing.T) {
		s := newSealed(t)
		s.options.SealRecords, s.options.SealInterval = 2, 10*time.Millisecond
		w := s.open(t)
		seen := map[journal.Cause]bool{}
		for i := 0; !seen[journal.CauseRecords] || !seen[journal.CauseInterval]; i++ {
			if !seen[journal.CauseRecords] {
				mustDo(t, w.AppendUnsynced(journal.End(session, process, i, at)))
			} else {
				mustDo(t, w.Sync()) // which takes a while
			}
			for _, cause := range []journal.Cause{journal.CauseRecords, journal.CauseInterval} {
				seen[cause] = seen[cause] || bytes.Contains(mustRead(t, s.path), []byte(`"cause":"`+cause+`"`))
			}
		}
		mustDo(t, w.Close())
		if r := s.verify(t); r.Err() != nil || r.Trusted != r.End {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("EXA-39 the time of seals is the clock's that was given", func(t *testing.T) {
		s := newSealed(t)
		s.options.Now = func() time.Time { return at }
		mustDo(t, s.open(t).Close())
		if r := s.verify(t); !r.Seal.Time.Equal(at) || !r.First.Time.Equal(at) || r.First.Cause != journal.CauseOpen {
			t.Errorf("report %+v", r)
		}
		s.options.Now = func() time.Time { return at.Add(time.Hour) }
		mustDo(t, s.open(t).Close())
		c := journal.Check{Keys: []journal.Key{s.key}, Until: at.Add(time.Minute)}
		if r := mustVerify(t, s.files(t), c); r.Err() != nil || !r.Seal.Time.Equal(at) || r.Trusted == r.End {
			t.Errorf("until a minute later: %+v", r)
		}
	})
	t.Run("EXA-39 chained records are in the order of the file, however many write", func(t *testing.T) {
		s := newSealed(t)
		s.options.SealRecords, s.options.MaxBytes = 5, 8<<10
		w := s.open(t)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				mine := session
				mine.ExecID = fmt.Sprint(i)
				for n := range 25 {
					if err := w.Append(journal.End(mine, process, n, at)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		mustDo(t, w.Close())
		checkAll(t, s, 8, 25)
	})
}

// checkAll wants so many records of each writer, in its order, in a journal that verifies to its end.
func checkAll(t *testing.T, s *sealed, writers, each int) {
	t.Helper()
	if r := s.verify(t); r.Err() != nil || r.Trusted != r.End || r.Torn != 0 {
		t.Errorf("report %+v, %v", r, r.Err())
	}
	records, faults := s.records(t)
	if len(records) != writers*each || faults != nil {
		t.Fatalf("%d records, faults %v, want %d", len(records), faults, writers*each)
	}
	next := map[string]int{}
	for _, r := range records {
		if *r.ExitCode != next[r.ExecID] {
			t.Fatalf("session %s: record %d came at %d", r.ExecID, *r.ExitCode, next[r.ExecID])
		}
		next[r.ExecID]++
	}
}

func TestKey(t *testing.T) {
	k := journal.NewKey()
	t.Run("EXA-39 a key is shown by Reveal alone", func(t *testing.T) {
		text := k.Reveal()
		secret := strings.SplitN(text, ":", 2)[1]
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", k)
		js, err := json.Marshal(map[string]any{"k": k, "p": &k})
		mustDo(t, err)
		for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s %x %q %d", k, k, k, k, k, k, &k), log.String(), string(js)} {
			if strings.Contains(shown, secret) || !strings.Contains(shown, "[redacted]") {
				t.Errorf("printed as %s", shown)
			}
		}
		raw, err := base64.RawURLEncoding.DecodeString(secret)
		mustDo(t, err)
		held := struct{ k journal.Key }{k}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%t", "%q", "%x", "%d"} {
			shown := fmt.Sprintf(verb, held)
			for _, form := range []string{"%d", "%x", "%#v"} {
				if strings.Contains(shown, strings.Trim(fmt.Sprintf(form, raw), "[]byte{}")) {
					t.Errorf("in an unexported field, %s prints it as %s", verb, shown)
				}
			}
		}
	})
	t.Run("EXA-39 what Reveal shows is parsed, and nothing else", func(t *testing.T) {
		text := k.Reveal()
		if again, err := journal.ParseKey(" " + text + "\n"); err != nil || again.Reveal() != text || again.ID() != k.ID() {
			t.Errorf("ParseKey = %v, %v", again, err)
		}
		for _, bad := range []string{"", text[:len(text)-1], text + "A", strings.TrimPrefix(text, "journal-verify-1:"), text[:20] + "!" + text[21:]} {
			if _, err := journal.ParseKey(bad); !errors.Is(err, journal.ErrBadKey) || bad != "" && strings.Contains(err.Error(), bad) {
				t.Errorf("ParseKey(%q) = %v", bad, err)
			}
		}
		if (journal.Key{}).Reveal() != "" || (journal.Key{}).ID() != "" || !errors.Is((journal.Key{}).Install("x"), journal.ErrBadKey) {
			t.Error("the zero key is a key")
		}
		if journal.NewKey().ID() == k.ID() {
			t.Error("two keys are one")
		}
	})
	t.Run("EXA-39 the key of a far epoch is the one that all steps lead to, and none leads back", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			epoch := rapid.Uint64Range(0, 300).Draw(rt, "epoch")
			if journal.KeyAt(k, epoch, false) != journal.KeyAt(k, epoch, true) {
				rt.Fatalf("epoch %d", epoch)
			}
		})
		if n := uint64(journal.Generation + 1); journal.KeyAt(k, n, false) != journal.KeyAt(k, n, true) {
			t.Error("over a generation")
		}
		for _, far := range []uint64{1 << 40, 1<<64 - 1} {
			if journal.KeyAt(k, far, false) != "" {
				t.Errorf("epoch %d was computed", far)
			}
		}
	})
	t.Run("EXA-39 after a seal the key file has nothing of the key before", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		for epoch := uint64(1); epoch < 5; epoch++ {
			held := mustRead(t, s.keyFile)
			for e := range epoch {
				for _, word := range strings.Fields(journal.KeyAt(s.key, e, false))[3:4] {
					if bytes.Contains(held, []byte(word)) {
						t.Fatalf("at epoch %d the key of %d is there", epoch, e)
					}
				}
			}
			if now := strings.Fields(journal.KeyAt(s.key, epoch, false))[3]; !bytes.Contains(held, []byte(now)) {
				t.Fatalf("at epoch %d its key is not there", epoch)
			}
			mustDo(t, w.Seal())
		}
		if info, err := os.Stat(s.keyFile); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	})
	t.Run("EXA-39 a key file is not installed over another, nor used by two", func(t *testing.T) {
		s := newSealed(t)
		if err := journal.NewKey().Install(s.keyFile); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Install = %v, want %v", err, fs.ErrExist)
		}
		s.open(t)
		o := s.options
		if _, err := journal.Open(filepath.Join(s.dir, "other"), o); !errors.Is(err, journal.ErrInUse) {
			t.Errorf("Open of another journal with the key file = %v, want %v", err, journal.ErrInUse)
		}
	})
	t.Run("EXA-39 a key file that is missing, a link or damaged is an error, and the journal is as it was", func(t *testing.T) {
		s := newSealed(t)
		good := mustRead(t, s.keyFile)
		mustWrite(t, s.path, "")
		for name, c := range map[string]struct {
			spoil func() error
			want  error
		}{
			"missing": {func() error { return nil }, fs.ErrNotExist},
			"a link":  {func() error { return os.Symlink(s.path, s.keyFile) }, journal.ErrNotRegular},
			"empty":   {func() error { return os.WriteFile(s.keyFile, nil, 0o600) }, journal.ErrKeyFile},
			"changed": {func() error {
				return os.WriteFile(s.keyFile, bytes.Replace(good, []byte(" 0 "), []byte(" 1 "), 1), 0o600)
			}, journal.ErrKeyFile},
			"cut": {func() error { return os.WriteFile(s.keyFile, good[:100], 0o600) }, journal.ErrKeyFile},
		} {
			_ = os.Remove(s.keyFile)
			mustDo(t, c.spoil())
			if _, err := journal.Open(s.path, s.options); c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: Open = %v, want %v", name, err, c.want)
			}
			_ = os.Remove(s.keyFile)
		}
		if len(mustRead(t, s.path)) != 0 {
			t.Error("something was written")
		}
	})
	t.Run("EXA-39 a key file that was lost: both keys verify the journal, the old one alone says where it ends", func(t *testing.T) {
		s := newSealed(t)
		mustDo(t, s.open(t).Close())
		old := s.key
		mustDo(t, os.Remove(s.keyFile))
		s.key = journal.NewKey()
		mustDo(t, s.key.Install(s.keyFile))
		mustDo(t, s.open(t).Close())
		if r := mustVerify(t, s.files(t), journal.Check{Keys: []journal.Key{s.key, old}, KeyFile: s.keyFile}); r.Err() != nil || r.Trusted != r.End || r.Seals != 4 {
			t.Errorf("both: %+v", r)
		}
		if r := mustVerify(t, s.files(t), journal.Check{Keys: []journal.Key{old}}); !errors.Is(r.Err(), journal.ErrUnknownKey) || r.Seals != 2 || r.Trusted != r.End {
			t.Errorf("the old one: %+v", r)
		}
	})
	t.Run("EXA-39 an old copy of the key file is caught up with what the journal has", func(t *testing.T) {
		s := newSealed(t)
		copied := mustRead(t, s.keyFile)
		w := s.open(t)
		mustDo(t, w.Seal())
		mustDo(t, w.Close())
		mustWrite(t, s.keyFile, string(copied))
		if r := s.verify(t); !errors.Is(r.Err(), journal.ErrOtherKeyFile) {
			t.Errorf("before Open: %v", r.Err())
		}
		mustDo(t, s.open(t).Close())
		if r := s.verify(t); r.Err() != nil || r.Trusted != r.End {
			t.Errorf("after Open: %+v, %v", r, r.Err())
		}
	})
}

func TestSealFaults(t *testing.T) {
	t.Run("EXA-39 a key that could not be replaced sticks as a failed sync does, and Open goes on", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		mustDo(t, journal.CloseKey(w))
		if err := w.Seal(); !errors.Is(err, journal.ErrSyncFailed) {
			t.Errorf("Seal = %v, want %v", err, journal.ErrSyncFailed)
		}
		if err := w.Append(journal.End(session, process, 0, at)); !errors.Is(err, journal.ErrSyncFailed) {
			t.Errorf("Append = %v, want %v", err, journal.ErrSyncFailed)
		}
		if err := w.Rotate(); !errors.Is(err, journal.ErrSyncFailed) {
			t.Errorf("Rotate = %v, want %v", err, journal.ErrSyncFailed)
		}
		if err := w.Close(); !errors.Is(err, journal.ErrSyncFailed) {
			t.Errorf("Close = %v, want %v", err, journal.ErrSyncFailed)
		}
		mustDo(t, s.open(t).Close())
		if r := s.verify(t); r.Err() != nil || r.Trusted != r.End {
			t.Errorf("report %+v, %v", r, r.Err())
		}
	})
	t.Run("EXA-39 what fails in the background is told", func(t *testing.T) {
		s := newSealed(t)
		told := make(chan error, 1)
		s.options.SealInterval = time.Millisecond
		s.options.Failed = func(err error) {
			select {
			case told <- err:
			default:
			}
		}
		w := s.open(t)
		mustDo(t, journal.CloseFile(w))
		if err := <-told; !errors.Is(err, os.ErrClosed) {
			t.Errorf("Failed was told %v, want %v", err, os.ErrClosed)
		}
	})
	t.Run("EXA-39 a Writer that was closed is not closed twice, nor seals", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		mustDo(t, w.Close())
		if err := w.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Close = %v, want %v", err, os.ErrClosed)
		}
		before := mustRead(t, s.path)
		_ = w.Seal()
		if !bytes.Equal(mustRead(t, s.path), before) {
			t.Error("it sealed")
		}
	})
}
