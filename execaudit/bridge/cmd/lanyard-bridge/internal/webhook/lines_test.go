//go:build unix

package webhook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRecordsFile(t *testing.T) {
	r := newRig(t)
	r.start()
	client := r.caller(nil)
	t.Run("BRG-12 SIGHUP writes on in a new file after a rotation", func(t *testing.T) {
		r.exec(client, "/"+secretPath+"/mutate", "cart")
		old := r.options.RecordsFile + ".1"
		if err := os.Rename(r.options.RecordsFile, old); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		eventually(t, "there is a new file", func() bool {
			_, err := os.Stat(r.options.RecordsFile)
			return err == nil
		})
		r.exec(client, "/"+secretPath+"/mutate", "cart")
		if got := r.records(); len(got) != 1 {
			t.Fatalf("%d records in the new file", len(got))
		}
		info, err := os.Stat(r.options.RecordsFile)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v; want a file for its owner alone", info.Mode(), err)
		}
	})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	for choice, allowed := range map[string]bool{"refuse": false, "allow": true} {
		t.Run("BRG-6 a full disk: "+choice, func(t *testing.T) {
			r := newRig(t)
			r.options.RecordsFile, r.options.Unrecorded = "/dev/full", choice
			r.start()
			got := r.exec(r.caller(nil), "/"+secretPath+"/mutate", "cart")
			if got.Allowed != allowed {
				t.Fatalf("%+v, want allowed %v", got, allowed)
			}
			if _, body := r.get(r.metrics + "/metrics"); !strings.Contains(body, "lanyard_bridge_unrecorded_total 1") {
				t.Fatalf("%s", body)
			}
			if err := r.end(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestTornLine(t *testing.T) {
	t.Run("BRG-6 after a kill in the middle of a line the next one stands alone", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "records")
		if err := os.WriteFile(name, []byte("whole\nto"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := openLines(name, true, rotation{})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"one\n", "two\n"} {
			if err := f.append([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(f.reopen(), f.append([]byte("three\n")), f.close()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != "whole\nto\none\ntwo\nthree\n" {
			t.Fatalf("%q, %v", got, err)
		}
		if err := f.append([]byte("late\n")); !errors.Is(err, os.ErrClosed) {
			t.Fatalf("append after close = %v", err)
		}
	})
	t.Run("BRG-6 a file that cannot be opened again leaves the one that was open", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "records")
		f, err := openLines(name, false, rotation{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(name, name+".1"), os.Mkdir(name, 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := f.reopen(); err == nil {
			t.Fatal("reopened a directory")
		}
		if err := errors.Join(f.append([]byte("line\n")), f.close()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name + ".1"); err != nil || string(got) != "line\n" {
			t.Fatalf("%q, %v", got, err)
		}
	})
}
