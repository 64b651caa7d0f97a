package monitor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

func TestSession(t *testing.T) {
	t.Run("ATT-11 the process of a session is kept until it is forgotten", func(t *testing.T) {
		dir := t.TempDir()
		if err := monitor.WriteSession(dir, "one", monitor.Started{Pid: 7, StartTime: 8}); err != nil {
			t.Fatal(err)
		}
		if got, err := monitor.ReadSession(dir, "one"); err != nil || got == nil || got.Pid != 7 || got.StartTime != 8 {
			t.Errorf("ReadSession = %+v, %v", got, err)
		}
		for range 2 {
			if err := monitor.ForgetSession(dir, "one"); err != nil {
				t.Error(err)
			}
		}
		if got, err := monitor.ReadSession(dir, "one"); err != nil || got != nil {
			t.Errorf("ReadSession = %+v, %v, want nothing", got, err)
		}
	})
	t.Run("ATT-11 half a file keeps no runtime from starting", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "session-one.json"), []byte(`{"pid":`), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := monitor.ReadSession(dir, "one"); err != nil || got != nil {
			t.Errorf("ReadSession = %+v, %v, want nothing", got, err)
		}
	})
}
