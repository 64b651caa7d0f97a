package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/apilist"
	"github.com/lanyard-dev/lanyard/tools/house"
)

// api renews the listings of what the library modules export. A name that the
// change touches must stand in the module's CHANGELOG.
func api(h *house.House, args []string) error {
	modules, err := selected(h, args, house.Library)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if err := renewListing(h, m); err != nil {
			return fmt.Errorf("%s: %w", m.Dir, err)
		}
	}
	return nil
}

func renewListing(h *house.House, m house.Module) error {
	packages, err := apilist.Load(h, m)
	if err != nil {
		return err
	}
	file := apilist.File(h, m)
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(h.Root, m.Dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	after := apilist.List(packages)
	if missing := apilist.Unmentioned(apilist.Changes(string(before), after), string(changelog)); len(missing) > 0 && len(before) > 0 {
		return fmt.Errorf("changed without a line in CHANGELOG.md: %s", strings.Join(missing, ", "))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(after), 0o644)
}
