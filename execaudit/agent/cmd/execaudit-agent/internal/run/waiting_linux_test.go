package run

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func TestWaiting(t *testing.T) {
	dir, at := t.TempDir(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	put := func(r spool.Record) {
		t.Helper()
		_, _ = rand.Read(r.Nonce[:])
		claim, err := spool.Take(dir, r.Nonce)
		if err == nil {
			err = claim.Commit(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	marked := spool.Record{
		Session: bridge.NewSessionID(), Expiry: at, Mark: spool.MarkSet, BootID: "boot", SessionID: 7, LoginUID: bridge.MinLoginUID,
		Where: spool.Where{Node: "n1", ContainerID: "c1", ExecID: "e1", Pod: "cart", Namespace: "shop"}, Argv: []string{"sh"}, TTY: true, Time: at,
	}
	put(marked)
	put(spool.Record{Session: bridge.NewSessionID(), Expiry: at, Mark: "off", BootID: "boot", SessionID: 8, Time: at})
	if err := os.WriteFile(filepath.Join(dir, "0123456789abcdef0123456789abcdef.json"), []byte("{\"version\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("AGT-1 AGT-3 a session that no journal has yet is known by its wrapper's record, with the mark", func(t *testing.T) {
		records, err := waiting(dir)
		if len(records) != 2 || err == nil {
			t.Fatalf("%d records, %v; want two and what is wrong with the third file", len(records), err)
		}
		want := journal.Record{
			Version: journal.Version, Kind: journal.KindIntent, Time: at, Argv: []string{"sh"}, TTY: true,
			Session: journal.Session{
				Node: "n1", ContainerID: "c1", ExecID: "e1", Pod: "cart", Namespace: "shop", ExecSession: marked.Session.String(),
			},
			Process: journal.Process{BootID: "boot", SessionID: 7, LoginUID: bridge.MinLoginUID},
		}
		for _, r := range records {
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
			if r.Session.ExecID == "e1" && !reflect.DeepEqual(r, want) {
				t.Errorf("%+v, want %+v", r, want)
			}
			if r.Session.ExecID != "e1" && (r.SessionID != 0 || r.Session.Node != unknown) {
				t.Errorf("%+v has a mark that the kernel did not give", r)
			}
		}
	})
	t.Run("AGT-3 a node without a spool has none that wait", func(t *testing.T) {
		if records, err := waiting(filepath.Join(dir, "none")); len(records) > 0 || err != nil {
			t.Errorf("%v, %v", records, err)
		}
	})
}
