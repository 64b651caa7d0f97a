package spool

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MaxFileBytes is the most that is read of one file; none that this package writes is longer.
const MaxFileBytes = 256 << 10 // 256 KiB

// keepBroken is how long a file that holds no record bars its token, which has a shorter life.
const keepBroken = 24 * time.Hour

// Records goes through the records that are not done, oldest file first. An error is a *[FileError], for a file that
// cannot be read or holds no record, and the iteration goes on; or it is the directory's, and the only one. A file that
// is [ErrIncomplete] may be complete the next time.
func Records(dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		files, err := sessionFiles(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for _, file := range files {
			if file.Mode().Perm() == modeDone {
				continue
			}
			record, err := readRecord(dir, file.Name())
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// Done says that the nonce's record is in the journal, so that Records leaves it out. Its error is the system's.
func Done(dir string, nonce [16]byte) error {
	return os.Chmod(filepath.Join(dir, fileName(nonce)), modeDone)
}

// Sweep removes the files that are done and whose token expired before the given time, and the broken ones that are a
// day older than it. Its error joins what could not be removed; a broken file that stays is none.
func Sweep(dir string, before time.Time) error {
	files, err := sessionFiles(dir)
	if err != nil {
		return err
	}
	var faults []error
	for _, file := range files {
		record, err := readRecord(dir, file.Name())
		over := file.Mode().Perm() == modeDone && record.Expiry.Before(before)
		if errors.Is(err, ErrMalformed) || errors.Is(err, ErrIncomplete) {
			err, over = nil, file.ModTime().Before(before.Add(-keepBroken))
		}
		if err == nil && over {
			err = os.Remove(filepath.Join(dir, file.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// sessionFiles returns the sessions' files, oldest first.
func sessionFiles(dir string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if nonce, ok := strings.CutSuffix(entry.Name(), ".json"); !ok || len(nonce) != 32 || !entry.Type().IsRegular() {
			continue
		} else if _, err := hex.DecodeString(nonce); err != nil {
			continue
		}
		if info, err := entry.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortStableFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	return files, nil
}

func readRecord(dir, name string) (Record, error) {
	text, err := readFile(dir, name)
	if err != nil {
		return Record{}, err
	}
	record, err := ParseRecord(text)
	if err == nil && fileName(record.Nonce) != name {
		record, err = Record{}, ErrMalformed
	}
	if err != nil {
		return Record{}, &FileError{name, err}
	}
	return record, nil
}

// readFile returns a file's content. Its error is a *[FileError].
func readFile(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() { // to open a FIFO is to wait for its writer
		err = ErrMalformed
	}
	if err != nil {
		return nil, &FileError{name, err}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, &FileError{name, err}
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	if err == nil && len(text) > MaxFileBytes {
		err = ErrMalformed
	}
	if err != nil {
		return nil, &FileError{name, err}
	}
	return text, nil
}
