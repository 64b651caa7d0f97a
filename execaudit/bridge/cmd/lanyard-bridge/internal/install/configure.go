//go:build linux

package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/runtimeconf"
)

// configure changes the runtime's configuration. Where the runtime's own program then reads something else than what
// was meant, it is as before again.
func (h host) configure(ctx context.Context, o Options, a *asked, r *record, patches []runtimeconf.Patch, binaries map[string]string) error {
	before := h.dump(ctx, a, r.Config)
	added := &record{}
	for _, patch := range patches {
		made, err := h.makeDirectory(filepath.Dir(patch.Path), 0o755)
		if err != nil {
			return err
		}
		added.Directories = append(made, added.Directories...)
		added.Edits = append(added.Edits, patch.Edit)
	}
	former := *r
	r.Edits, r.Directories = append(r.Edits, added.Edits...), append(added.Directories, r.Directories...)
	// Written down first: an edit that was not made is not found, and nothing is undone.
	if err := h.save(o.State, r); err != nil {
		return err
	}
	err := h.apply(patches)
	if err == nil {
		err = h.reread(ctx, a, r.Config, before, binaries)
	}
	if err != nil {
		err = errors.Join(err, h.undo(added), h.save(o.State, &former))
	}
	return err
}

// reread returns an error where the files of now do not say what was meant.
func (h host) reread(ctx context.Context, a *asked, main string, before []byte, binaries map[string]string) error {
	p, err := h.planner(a, main)
	if err != nil {
		return err
	}
	handlers, _, err := p.Handlers()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(binaries)) {
		if handlers[name].Binary != binaries[name] {
			return fmt.Errorf("%w: another file of the configuration has the last word on handler %q", runtimeconf.ErrForm, name)
		}
	}
	if after := h.dump(ctx, a, main); before != nil && after != nil {
		return runtimeconf.Compare(before, after, binaries)
	}
	return nil
}
