package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
)

var at = time.Date(2026, 11, 22, 11, 0, 0, 5, time.UTC)

func record(nonce byte) spool.Record {
	return spool.Record{
		Session: bridge.NewSessionID(), Nonce: [16]byte{nonce}, Expiry: at.Add(time.Minute), Key: "0011223344556677", Requester: [16]byte{9},
		Where:  spool.Where{Node: "n1", PodUID: "u", Namespace: "default", Pod: "web", Container: "app", ContainerID: "c1", ExecID: "e1", PIDFile: "/run/e1.pid"},
		BootID: "b", SessionID: 7, LoginUID: bridge.MinLoginUID, Mark: spool.MarkSet, Argv: []string{"sh", "-c", "echo \"\x01\u2028\""}, TTY: true, Time: at,
	}
}

func commit(t *testing.T, dir string, r spool.Record) {
	t.Helper()
	claim, err := spool.Take(dir, r.Nonce)
	if err == nil {
		err = claim.Commit(r)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func waiting(t *testing.T, dir string) (records []spool.Record, errs []error) {
	t.Helper()
	for r, err := range spool.Records(dir) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		records = append(records, r)
	}
	return records, errs
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestSessions(t *testing.T) {
	t.Run("BRG-2 a token is used once, before and after its record is done", func(t *testing.T) {
		dir, r := t.TempDir(), record(1)
		commit(t, dir, r)
		if _, err := spool.Take(dir, r.Nonce); !errors.Is(err, spool.ErrReplayed) {
			t.Errorf("Take = %v, want %v", err, spool.ErrReplayed)
		}
		if got, errs := waiting(t, dir); len(errs) > 0 || !reflect.DeepEqual(got, []spool.Record{r}) {
			t.Errorf("Records = %+v, %v, want %+v", got, errs, r)
		}
		if err := spool.Done(dir, r.Nonce); err != nil {
			t.Fatal(err)
		}
		if got, errs := waiting(t, dir); len(got)+len(errs) > 0 {
			t.Errorf("Records = %+v, %v, want none", got, errs)
		}
		if _, err := spool.Take(dir, r.Nonce); !errors.Is(err, spool.ErrReplayed) {
			t.Errorf("Take = %v, want %v", err, spool.ErrReplayed)
		}
	})
	t.Run("BRG-2 a use that is given back can be taken again", func(t *testing.T) {
		dir, r := t.TempDir(), record(1)
		claim, err := spool.Take(dir, r.Nonce)
		if err != nil {
			t.Fatal(err)
		}
		if err := claim.Release(); err != nil {
			t.Fatal(err)
		}
		commit(t, dir, r)
	})
	t.Run("BRG-4 a file is removed when it is done and its token over, never before", func(t *testing.T) {
		dir := t.TempDir()
		for nonce := range byte(3) {
			commit(t, dir, record(nonce))
		}
		if err := errors.Join(spool.Done(dir, [16]byte{0}), spool.Done(dir, [16]byte{1})); err != nil {
			t.Fatal(err)
		}
		if err := spool.Sweep(dir, at.Add(time.Minute)); err != nil || len(names(t, dir)) != 3 {
			t.Errorf("at the expiry: %v, %v", names(t, dir), err)
		}
		if err := spool.Sweep(dir, at.Add(time.Minute+1)); err != nil || len(names(t, dir)) != 1 {
			t.Errorf("after the expiry: %v, %v", names(t, dir), err)
		}
		if got, _ := waiting(t, dir); len(got) != 1 || got[0].Nonce != [16]byte{2} {
			t.Errorf("waiting: %+v", got)
		}
	})
	t.Run("BRG-6 a file whose writer ended is told, bars its token for a day and is then removed", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := spool.Take(dir, [16]byte{1}); err != nil {
			t.Fatal(err)
		}
		commit(t, dir, record(2))
		if err := os.WriteFile(filepath.Join(dir, "notes.json"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		got, errs := waiting(t, dir)
		var file *spool.FileError
		if len(got) != 1 || len(errs) != 1 || !errors.Is(errs[0], spool.ErrIncomplete) || !errors.As(errs[0], &file) || !strings.HasPrefix(file.Name, "01000000") {
			t.Errorf("Records = %+v, %v", got, errs)
		}
		if err := spool.Sweep(dir, time.Now()); err != nil || len(names(t, dir)) != 3 {
			t.Errorf("at once: %v, %v", names(t, dir), err)
		}
		if err := spool.Sweep(dir, time.Now().Add(25*time.Hour)); err != nil || len(names(t, dir)) != 2 {
			t.Errorf("after a day: %v, %v", names(t, dir), err)
		}
	})
	t.Run("BRG-6 a long command is cut in its record", func(t *testing.T) {
		r := record(1)
		r.Argv = []string{"sh", strings.Repeat("x", 1<<20), "y"}
		got, err := spool.ParseRecord(r.Encode())
		if err != nil || !got.ArgvTruncated || len(got.Argv) != 2 || len(got.Argv[1]) != spool.MaxArgvBytes-8-8-2 {
			t.Errorf("ParseRecord: %d elements, %t, %v", len(got.Argv), got.ArgvTruncated, err)
		}
	})
	t.Run("BRG-6 without its directory every call says so", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		_, err := spool.Take(dir, [16]byte{})
		_, errs := waiting(t, dir)
		for _, err := range append(errs, err, spool.Refuse(dir, spool.Refusal{}), spool.Sweep(dir, at), spool.Done(dir, [16]byte{})) {
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("error %v, want %v", err, os.ErrNotExist)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	refusal := spool.Refusal{
		Session: bridge.NewSessionID(), Verified: true, Where: record(1).Where, Reason: "token expired 3 s ago",
		Argv: []string{spool.TokenPlace, "sh"}, TTY: true, Time: at,
	}
	t.Run("BRG-4 a refusal waits until it is removed", func(t *testing.T) {
		dir := t.TempDir()
		if err := spool.Refuse(dir, refusal); err != nil {
			t.Fatal(err)
		}
		for got, err := range spool.Refusals(dir) {
			if err != nil || !reflect.DeepEqual(got.Refusal, refusal) {
				t.Errorf("Refusals = %+v, %v, want %+v", got, err, refusal)
			}
			if err := spool.RemoveRefusal(dir, got.Name); err != nil {
				t.Error(err)
			}
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("BRG-6 refusals beyond the limit are counted only", func(t *testing.T) {
		dir := t.TempDir()
		for range spool.MaxRefusals + 5 {
			if err := spool.Refuse(dir, refusal); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(names(t, dir)); n != spool.MaxRefusals+1 {
			t.Errorf("%d files, want %d", n, spool.MaxRefusals+1)
		}
		for _, want := range []int64{5, 0} {
			if n, err := spool.TakeBeyond(dir); err != nil || n != want {
				t.Errorf("TakeBeyond = %d, %v, want %d", n, err, want)
			}
		}
	})
	t.Run("BRG-4 a name that is no refusal's is not removed", func(t *testing.T) {
		dir := t.TempDir()
		commit(t, dir, record(1))
		for _, name := range names(t, dir) {
			if err := spool.RemoveRefusal(dir, name); !errors.Is(err, spool.ErrMalformed) {
				t.Errorf("RemoveRefusal(%s) = %v", name, err)
			}
		}
	})
}
