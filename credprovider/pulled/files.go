package pulled

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	filePrefix = "sha256-"
	tempSuffix = ".tmp"

	// maxRecordBytes is the largest record that is read.
	maxRecordBytes = 4 << 20 // 4 MiB
)

// directory contains one file for each name. It is crash-safe, because a file is complete and on the disk before it
// gets its name.
type directory string

func (f directory) path(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(string(f), filePrefix+hex.EncodeToString(sum[:]))
}

// read returns fs.ErrNotExist when there is none.
func (f directory) read(name string) ([]byte, error) { return readBounded(f.path(name)) }

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRecordBytes+1))
	if err == nil && len(data) > maxRecordBytes {
		err = fmt.Errorf("%w: %q has more than %d bytes", ErrCorrupt, path, maxRecordBytes)
	}
	return data, err
}

func (f directory) write(name string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	target := f.path(name)
	if err := writeSynced(target+tempSuffix, append(data, '\n')); err != nil {
		return err
	}
	if err := os.Rename(target+tempSuffix, target); err != nil {
		return err
	}
	return f.sync()
}

func writeSynced(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

// remove is quiet about a file that is not there.
func (f directory) remove(name string) error {
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.sync()
}

// each calls visit with the content of every file, in the order of their names, and joins the errors. Files that are
// not this package's, and files that a crash left half-written, are skipped.
func (f directory) each(visit func(data []byte) error) error {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	var faults []error
	for _, e := range entries {
		if e.IsDir() || !strings.HasPrefix(e.Name(), filePrefix) || strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		path := filepath.Join(string(f), e.Name())
		data, err := readBounded(path)
		if err == nil {
			err = visit(data)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", path, err))
		}
	}
	return errors.Join(faults...)
}
