package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// written is a journal as it was written: its files, by name, and where its seals are.
type written struct {
	*sealed
	names []string
	files map[string][]byte
	whole []byte // all of them together
	ends  []int  // of its seals' lines, in whole
}

// write makes a journal of three files, opened twice.
func write(t *testing.T, word string) *written {
	t.Helper()
	s := newSealed(t)
	for round := range 2 {
		w := s.open(t)
		for i := range 7 {
			mustDo(t, w.AppendUnsynced(journal.Intent(session, []string{word, fmt.Sprint(i)}, true, at)))
			if i%3 == 1 {
				mustDo(t, w.Seal())
			}
		}
		if round == 0 {
			mustDo(t, w.Rotate())
			mustDo(t, w.AppendUnsynced(journal.Intent(session, []string{word}, false, at)))
			mustDo(t, w.Rotate())
		}
		mustDo(t, w.Close())
	}
	out := &written{sealed: s, files: map[string][]byte{}}
	for _, name := range s.files(t) {
		out.names = append(out.names, name)
		out.files[name] = mustRead(t, name)
		for line := range bytes.Lines(out.files[name]) {
			out.whole = append(out.whole, line...)
			if _, seal := journal.ParseMarks(bytes.TrimSuffix(line, []byte("\n"))); seal {
				out.ends = append(out.ends, len(out.whole))
			}
		}
	}
	if r := s.verify(t); r.Err() != nil || r.Trusted != r.End || r.Seals != len(out.ends) || len(out.names) != 3 {
		t.Fatalf("report %+v, %v", r, r.Err())
	}
	return out
}

// put writes these files, and no others.
func (w *written) put(t interface{ Fatal(...any) }, files map[string][]byte) {
	for _, name := range w.names {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// check verifies what an adversary left and wants two things: what is trusted, of all files together, begins as the
// journal was written, up to the last seal of which the adversary did not have the key; and an adversary who has no
// key has changed nothing, or is found.
func (w *written) check(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, files map[string][]byte, taken int,
) *journal.Report {
	w.put(t, files)
	names, err := journal.Files(w.path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.Verify(names, journal.Check{Keys: []journal.Key{w.key}, KeyFile: w.keyFile})
	if err != nil {
		t.Fatal(err)
	}
	var trusted, all []byte
	for _, name := range names {
		all = append(all, files[name]...)
	}
	if r.Trusted.File != "" {
		for _, name := range names {
			if name == r.Trusted.File {
				trusted = append(trusted, files[name][:r.Trusted.Byte]...)
				break
			}
			trusted = append(trusted, files[name]...)
		}
	}
	own := w.whole[:taken]
	begins := bytes.HasPrefix(withEnd(trusted), own) || bytes.HasPrefix(own, trusted)
	if !begins && r.Begin <= 1 {
		t.Fatalf("what was never written is trusted up to %+v:\n%s", r.Trusted, trusted)
	}
	if r.Err() == nil && !bytes.HasPrefix(withEnd(all), own) {
		t.Fatalf("a change before what the adversary had was not found: %+v", r)
	}
	return r
}

// withEnd returns lines of which the last one has its newline.
func withEnd(lines []byte) []byte {
	if len(lines) > 0 && lines[len(lines)-1] != '\n' {
		return append(bytes.Clone(lines), '\n')
	}
	return lines
}

func TestAdversary(t *testing.T) {
	w, other := write(t, "ours"), write(t, "theirs")
	lines := func(files map[string][]byte) (all [][]byte, of []string) {
		for _, name := range w.names {
			for line := range bytes.Lines(files[name]) {
				all, of = append(all, line), append(of, name)
			}
		}
		return all, of
	}
	join := func(all [][]byte, of []string) map[string][]byte {
		files := map[string][]byte{}
		for i, line := range all {
			files[of[i]] = append(files[of[i]], line...)
		}
		return files
	}
	foreign, _ := lines(map[string][]byte{w.names[0]: other.whole})
	mutations := map[string]func(*rapid.T, map[string][]byte) map[string][]byte{
		"a bit flips": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			name := rapid.SampledFrom(w.names).Draw(rt, "name")
			data := bytes.Clone(files[name])
			data[rapid.IntRange(0, len(data)-1).Draw(rt, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			files[name] = data
			return files
		},
		"a byte goes": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			name := rapid.SampledFrom(w.names).Draw(rt, "name")
			at := rapid.IntRange(0, len(files[name])-1).Draw(rt, "byte")
			files[name] = slices.Concat(files[name][:at], files[name][at+1:])
			return files
		},
		"a byte comes": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			name := rapid.SampledFrom(w.names).Draw(rt, "name")
			at := rapid.IntRange(0, len(files[name])).Draw(rt, "byte")
			files[name] = slices.Concat(files[name][:at], []byte{rapid.SampledFrom([]byte("\n {}\"\x00a")).Draw(rt, "new")}, files[name][at:])
			return files
		},
		"lines go": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			all, of := lines(files)
			from := rapid.IntRange(0, len(all)-1).Draw(rt, "from")
			to := rapid.IntRange(from+1, len(all)).Draw(rt, "to")
			return join(slices.Delete(all, from, to), slices.Delete(of, from, to))
		},
		"lines change places": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			all, of := lines(files)
			a, b := rapid.IntRange(0, len(all)-1).Draw(rt, "a"), rapid.IntRange(0, len(all)-1).Draw(rt, "b")
			all[a], all[b] = all[b], all[a]
			return join(all, of)
		},
		"a line comes twice": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			all, of := lines(files)
			a, b := rapid.IntRange(0, len(all)-1).Draw(rt, "a"), rapid.IntRange(0, len(all)-1).Draw(rt, "b")
			return join(slices.Insert(all, b, all[a]), slices.Insert(of, b, of[b]))
		},
		"a line of another journal": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			all, of := lines(files)
			all[rapid.IntRange(0, len(all)-1).Draw(rt, "place")] = rapid.SampledFrom(foreign).Draw(rt, "line")
			return join(all, of)
		},
		"cut": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			name := rapid.SampledFrom(w.names).Draw(rt, "name")
			files[name] = files[name][:rapid.IntRange(0, len(files[name])-1).Draw(rt, "at")]
			return files
		},
		"a file goes": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			delete(files, rapid.SampledFrom(w.names).Draw(rt, "name"))
			return files
		},
		"files change places": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			a, b := rapid.SampledFrom(w.names).Draw(rt, "a"), rapid.SampledFrom(w.names).Draw(rt, "b")
			files[a], files[b] = files[b], files[a]
			return files
		},
		"a file of another journal": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			i := rapid.IntRange(0, len(w.names)-1).Draw(rt, "file")
			files[w.names[i]] = other.files[other.names[i]]
			return files
		},
		"a file is cut in two, or two are one": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			all, of := lines(files)
			at := rapid.IntRange(0, len(all)).Draw(rt, "at")
			for i := range of {
				of[i] = w.names[0]
				if i >= at {
					of[i] = w.names[1]
				}
			}
			return join(all, of)
		},
		"chained anew without a key": func(rt *rapid.T, files map[string][]byte) map[string][]byte {
			all, of := lines(files)
			from := rapid.IntRange(0, len(all)-1).Draw(rt, "from")
			return join(w.rechain(all, from, 1<<62), of)
		},
	}
	for name, mutate := range mutations {
		t.Run("EXA-39 an adversary without a key is found: "+name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				files := mutate(rt, map[string][]byte{w.names[0]: w.files[w.names[0]], w.names[1]: w.files[w.names[1]], w.names[2]: w.files[w.names[2]]})
				w.check(rt, files, len(w.whole))
			})
		})
	}
	t.Run("EXA-39 an adversary who takes the host, its keys from then on and all it can do with them changes nothing before", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			epoch := rapid.IntRange(0, len(w.ends)-1).Draw(rt, "epoch") // the first whose key the adversary has
			all, of := lines(w.files)
			from := rapid.IntRange(0, len(all)-1).Draw(rt, "from")
			taken := 0
			if epoch > 0 {
				taken = w.ends[epoch-1]
			}
			w.check(rt, join(w.rechain(all, from, uint64(epoch)), of), taken)
		})
	})
	t.Run("EXA-39 an adversary who leaves out all from a seal on and goes on with a later key is found", func(t *testing.T) {
		for epoch := 2; epoch < len(w.ends); epoch++ {
			for cut := range epoch { // seals that stay
				end := 0
				if cut > 0 {
					end = w.ends[cut-1]
				}
				head := w.whole[:end]
				digest := digestOf(head)
				line := journal.SealLine(w.key, journal.Seal{Epoch: uint64(epoch), Time: at, Cause: journal.CauseOpen}, digest)
				r := w.check(t, map[string][]byte{w.path: slices.Concat(head, line, []byte("\n"))}, w.ends[epoch-1])
				if r.Err() == nil {
					t.Errorf("%d seals stay, and one of epoch %d follows: %+v", cut, epoch, r)
				}
			}
		}
	})
	t.Run("EXA-39 an old copy of the journal is found by the key file, and shows its last seal without it", func(t *testing.T) {
		all := map[string][]byte{w.names[0]: w.files[w.names[0]]}
		if r := w.check(t, all, len(w.whole)); !errors.Is(r.Err(), journal.ErrBehind) {
			t.Errorf("report %v", r.Err())
		}
		r, err := journal.Verify([]string{w.names[0]}, journal.Check{Keys: []journal.Key{w.key}})
		if err != nil || r.Err() != nil || r.Seal.Cause != journal.CauseRotate || time.Since(r.Seal.Time) < 0 {
			t.Errorf("report %+v, %v", r, err)
		}
	})
	t.Run("EXA-39 a key file that an adversary made for a journal that was cut is not this journal's", func(t *testing.T) {
		real := mustRead(t, w.keyFile)
		defer mustWrite(t, w.keyFile, string(real))
		for back := 1; back < len(w.ends); back++ {
			cut := w.ends[len(w.ends)-back-1]
			for _, epoch := range []uint64{uint64(len(w.ends) - back), uint64(len(w.ends) - back - 1)} {
				forged := journal.KeyAt(journal.NewKey(), epoch, false)
				mustWrite(t, w.keyFile, journal.WithID(forged, w.key.ID()))
				r := w.check(t, map[string][]byte{w.path: w.whole[:cut]}, len(w.whole))
				if r.Err() == nil {
					t.Errorf("%d seals are gone, and the key file says %d: %+v", back, epoch, r)
				}
			}
		}
		w.put(t, w.files)
		mustDo(t, os.WriteFile(w.keyFile, []byte(journal.WithID(journal.KeyAt(journal.NewKey(), uint64(len(w.ends)), false), w.key.ID())), 0o600))
		if r := w.verify(t); !errors.Is(r.Err(), journal.ErrOtherKeyFile) {
			t.Errorf("another key of the right epoch: %v", r.Err())
		}
	})
	w.put(t, w.files)
	if r := w.verify(t); r.Err() != nil {
		t.Errorf("the journal itself: %v", r.Err())
	}
}

func TestBreaks(t *testing.T) {
	w := write(t, "ours")
	one, two, three := w.files[w.names[0]], w.files[w.names[1]], w.files[w.names[2]]
	line := func(data []byte, n int) string {
		text, _ := journal.Unlink(bytes.Split(data, []byte("\n"))[n])
		return text
	}
	firstMark, _ := journal.Link([32]byte{1}, line(one, 0))
	late := journal.SealLine(w.key, journal.Seal{Epoch: 3, Time: at}, digestOf(slices.Concat(one[:bytes.IndexByte(one, '\n')+1])))
	firstSeal := one[:bytes.IndexByte(one, '\n')+1]
	for name, c := range map[string]struct {
		files map[string][]byte
		want  error
	}{
		"two files in one":                      {map[string][]byte{w.names[0]: slices.Concat(one, two), w.path: three}, journal.ErrMark},
		"a file in two":                         {map[string][]byte{w.names[0]: one[:w.ends[1]], w.names[1]: one[w.ends[1]:]}, journal.ErrMark},
		"an empty file between":                 {map[string][]byte{w.names[0]: one, w.names[1]: nil, w.path: three}, journal.ErrMark},
		"a rotated file without its newline":    {map[string][]byte{w.names[0]: one[:len(one)-1], w.names[1]: two, w.path: three}, journal.ErrChain},
		"a file under another's name":           {map[string][]byte{w.path + ".00000007": one, w.path: two}, journal.ErrMark},
		"a first file that follows something":   {map[string][]byte{w.path: append(firstMark, '\n')}, journal.ErrMark},
		"a first seal that is not the first":    {map[string][]byte{w.path: slices.Concat(firstSeal, late, []byte("\n"))}, journal.ErrEpoch},
		"a file that is missing between others": {map[string][]byte{w.names[0]: one, w.path: three}, journal.ErrMissingFile},
		"the oldest file that is kept, missing": {map[string][]byte{w.names[1]: two, w.path: three}, journal.ErrMissingFile},
		"nothing":                               {nil, journal.ErrNoSeal},
	} {
		t.Run("EXA-39 "+name, func(t *testing.T) {
			w.put(t, c.files)
			names := w.sealed.files(t)
			r := mustVerify(t, names, journal.Check{Keys: []journal.Key{w.key}})
			if !errors.Is(r.Err(), c.want) {
				t.Errorf("with the key: %v, want %v", r.Err(), c.want)
			}
			if r := mustVerify(t, names, journal.Check{}); len(names) > 0 && !errors.Is(r.Err(), c.want) {
				t.Errorf("without a key: %v, want %v", r.Err(), c.want)
			}
			for name := range c.files {
				mustDo(t, os.Remove(name))
			}
		})
	}
}

func digestOf(data []byte) (d [32]byte) {
	for line := range bytes.Lines(data) {
		d = journal.After(d, bytes.TrimSuffix(line, []byte("\n")))
	}
	return d
}

// rechain changes a line and chains all from it on anew, with new seals where the adversary has the key.
func (w *written) rechain(all [][]byte, from int, epoch uint64) [][]byte {
	var before [32]byte
	out := slices.Clone(all)
	seals := uint64(0)
	for i, line := range all {
		line = bytes.TrimSuffix(line, []byte("\n"))
		_, seal := journal.ParseMarks(line)
		if i >= from {
			text, _ := journal.Unlink(line)
			if i == from {
				text = strings.Replace(text, "ours", "mine", 1)
				text = strings.Replace(text, `"cause":"`, `"cause":"x`, 1)
				text = strings.Replace(text, `"oldest":`, `"oldest":1`, 1)
			}
			line, _ = journal.Link(before, text)
			if seal && seals >= epoch {
				line = journal.SealLine(w.key, journal.Seal{Epoch: seals, Time: at, Cause: journal.CauseCall}, before)
			}
		}
		if seal {
			seals++
		}
		before = journal.After(before, line)
		out[i] = append(bytes.Clone(line), '\n')
	}
	return out
}
