package spool

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
)

// Names of refusals' files, and of the one whose length is the number of those beyond.
const (
	refusalPrefix = "refused-"
	beyondName    = "refused-beyond"
)

// Refuse writes a refusal, or, if [MaxRefusals] wait, counts it. It is not synced: nothing began that could be lost.
// Its error is the system's.
func Refuse(dir string, r Refusal) error {
	for slot := range MaxRefusals {
		file, err := os.OpenFile(filepath.Join(dir, refusalName(slot)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeWaiting)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err = file.Write(r.Encode()); err != nil {
			return errors.Join(err, os.Remove(file.Name()), file.Close())
		}
		return file.Close()
	}
	file, err := os.OpenFile(filepath.Join(dir, beyondName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, modeWaiting)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte{'.'})
	return errors.Join(err, file.Close())
}

// WaitingRefusal is a refusal and the name of its file.
type WaitingRefusal struct {
	Refusal
	Name string
}

// Refusals goes through the refusals that wait, in no order of time. Errors are as those of Records.
func Refusals(dir string) iter.Seq2[WaitingRefusal, error] {
	return func(yield func(WaitingRefusal, error) bool) {
		if _, err := os.Stat(dir); err != nil {
			yield(WaitingRefusal{}, err)
			return
		}
		for slot := range MaxRefusals {
			name := refusalName(slot)
			text, err := readFile(dir, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			waiting := WaitingRefusal{Name: name}
			if err == nil {
				if waiting.Refusal, err = ParseRefusal(text); err != nil {
					err = &FileError{name, err}
				}
			}
			if !yield(waiting, err) {
				return
			}
		}
	}
}

// RemoveRefusal removes the refusal in the file of this name, as of a [WaitingRefusal] or a [FileError]. Its error is
// the system's, or [ErrMalformed] for a name that is no refusal's.
func RemoveRefusal(dir, name string) error {
	for slot := range MaxRefusals {
		if name == refusalName(slot) {
			return os.Remove(filepath.Join(dir, name))
		}
	}
	return &FileError{name, ErrMalformed}
}

// TakeBeyond returns how many refusals were counted only, and begins to count anew. Its error is the system's.
func TakeBeyond(dir string) (int64, error) {
	taken := filepath.Join(dir, beyondName+".taken")
	err := os.Rename(filepath.Join(dir, beyondName), taken)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(taken)
	if err != nil {
		return 0, err
	}
	return info.Size(), os.Remove(taken)
}

func refusalName(slot int) string { return refusalPrefix + strconv.Itoa(1000 + slot)[1:] + ".json" }
