package testrun

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// record is what a run leaves behind for one module.
type record struct {
	Digest   string // of the tree that ran
	Outcomes []Outcome
}

// Records keeps the outcomes of the last run of each module in a directory.
type Records struct {
	dir string
}

// OpenRecords returns the records of the checkout.
func OpenRecords(h *house.House) Records {
	return Records{filepath.Join(h.Root, ".build", "results")}
}

func (r Records) file(m house.Module) string {
	return filepath.Join(r.dir, strings.ReplaceAll(m.Dir, "/", "_")+".json")
}

// Save keeps the outcomes of m for the tree whose digest is given.
func (r Records) Save(m house.Module, digest string, outcomes []Outcome) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	data, err := json.Marshal(record{digest, outcomes})
	if err != nil {
		return err
	}
	return os.WriteFile(r.file(m), data, 0o644)
}

// Load returns the outcomes of m, and false where none are kept or the module or
// one of its siblings has changed since.
func (r Records) Load(h *house.House, m house.Module) ([]Outcome, bool, error) {
	data, err := os.ReadFile(r.file(m))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var rec record
	if err := json.Unmarshal(data, &rec); err != nil {
		return nil, false, err
	}
	digest, err := h.Digest(m)
	return rec.Outcomes, err == nil && digest == rec.Digest, err
}
