package installed_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge/internal/installed"
)

func TestState(t *testing.T) {
	state := installed.State{Handlers: map[string]installed.Handler{
		"":      {Mode: "drop-in", Since: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC), Wrapper: "/opt/lanyard/lanyard-oci", Runtime: "/usr/sbin/runc", Config: "/opt/lanyard/lanyard-oci.json"},
		"crun ": {Mode: "bind", Since: time.Unix(1, 0).UTC(), Wrapper: "/usr/bin/crun", Runtime: "/run/lanyard/crun", Config: "/run/lanyard/usr-bin-crun.json"},
	}}
	t.Run("BRG-9 what was saved is loaded", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), installed.File)
		for range 2 {
			if err := state.Save(path); err != nil {
				t.Fatal(err)
			}
		}
		got, err := installed.Load(path)
		want := state
		want.Version = installed.Version
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Load = %+v, %v, want %+v", got, err, want)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("%v beside the state, %v", entries, err)
		}
	})
	t.Run("BRG-9 no file is a node without the wrapper", func(t *testing.T) {
		if got, err := installed.Load(filepath.Join(t.TempDir(), "none")); err != nil || len(got.Handlers) > 0 {
			t.Errorf("Load = %+v, %v", got, err)
		}
	})
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"BRG-9 a torn file is malformed":          {`{"version":1,`, installed.ErrMalformed},
		"BRG-9 a huge file is malformed":          {strings.Repeat(" ", installed.MaxBytes) + `{"version":1}`, installed.ErrMalformed},
		"BRG-9 another version's file is refused": {`{"version":2}`, installed.ErrVersion},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), installed.File)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := installed.Load(path); !errors.Is(err, c.want) {
				t.Errorf("Load = %v, want %v", err, c.want)
			}
		})
	}
}
