package journal

import (
	"errors"
	"io"
	"math"
	"os"
)

// tail is what a Writer has to know of the file in which it goes on.
type tail struct {
	whole    digest      // after all lines that have their newline
	after    digest      // after the torn line, too
	torn     bool        // the last line lacks its newline
	size     int64       // in bytes
	first    bool        // the first line is the file's mark
	mark     fileMark    // of the file; its number is 0 when there is none
	seal     *parsedSeal // the last one, nil for none
	sealed   digest      // of what stands before it
	unsealed int         // lines since
}

// readTail goes through a file from its beginning. base is of the files before.
func readTail(r io.Reader, base digest) (t tail, err error) {
	t.whole = base
	t.after, err = walk(r, base, func(l *line) error {
		t.unsealed++
		t.torn, t.size = !l.closed, l.end
		if t.whole = l.before; l.closed {
			t.whole = l.after
		}
		switch {
		case isFileMark(l.text):
			if m, ok := parseFileMark(l.text); ok {
				t.mark, t.first = m, t.first || l.number == 1
			}
		case isSeal(l.text):
			if s, ok := parseSeal(l.text); ok {
				t.seal, t.sealed, t.unsealed = &s, l.before, 0
			}
		}
		return nil
	})
	return t, err
}

// findTail returns the tail of the journal's file, with the last seal of the file before where it has none, and the
// file's number.
func findTail(file *os.File, path string) (tail, uint64, error) {
	all := io.NewSectionReader(file, 0, math.MaxInt64)
	t, err := readTail(all, digest{})
	if err != nil || t.first && t.seal != nil {
		return t, t.mark.File, err
	}
	numbers, err := rotated(path)
	if err != nil {
		return t, 0, err
	}
	var number uint64
	var last tail // of the newest rotated file
	if len(numbers) > 0 {
		number = numbers[len(numbers)-1]
		if last, err = tailOf(rotatedName(path, number)); err != nil {
			return t, 0, err
		}
	}
	if !t.first && number > 0 { // a crash came before the file's mark, or it is of an older version
		if _, err := all.Seek(0, io.SeekStart); err != nil {
			return t, 0, err
		}
		if t, err = readTail(all, last.after); err != nil {
			return t, 0, err
		}
	}
	if number++; t.mark.File > 0 {
		number = t.mark.File
	}
	if t.seal == nil {
		t.seal, t.sealed = last.seal, last.sealed
	}
	return t, number, nil
}

func tailOf(path string) (t tail, err error) {
	f, err := openFileWith(path, os.O_RDONLY)
	if err != nil {
		return tail{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readTail(f, digest{})
}

// catchUp goes past the keys of seals that are in the journal already: a crash came between the seal and its key, or
// the key file is an old copy. The seals are on disk before their keys are gone.
func (t *tail) catchUp(k *keyFile, file *os.File) error {
	if t.seal == nil || t.seal.KeyID != k.key.id {
		return nil
	}
	key := k.key
	if !key.seek(t.seal.Epoch) || !t.seal.holds(&t.sealed, &key) {
		return nil
	}
	if err := file.Sync(); err != nil {
		return err
	}
	key.advance()
	k.key = key
	return k.save()
}
