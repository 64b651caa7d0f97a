package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// zip writes a file with gzip and returns its path.
func zip(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// hourEarlier is the session of another user an hour before.
func hourEarlier(text string) string {
	return strings.NewReplacer("T04:10", "T03:10", "id-a", "id-b", "alice", "bob", `"e1"`, `"e0"`, "4711", "4600", `"startTicks":12`, `"startTicks":11`).Replace(text)
}

func TestFollowList(t *testing.T) {
	t.Run("ATT-3 ATT-15 of a list that is followed the last grows, after the others were read", func(t *testing.T) {
		f := follow(t, "--audit", file(t, auditLine)+","+zip(t, hourEarlier(auditLine))+","+file(t, ""),
			"--journal", file(t, intent)+","+file(t, hourEarlier(intent))+","+file(t, ""),
			"--events", file(t, hourEarlier(eventLine))+","+file(t, eventLine), "-o", "json")
		f.until(t, `"user":"bob"`)
		f.until(t, `"user":"alice"`)
		f.end()
	})
	t.Run("ATT-3 what is written to the last of a list while the others are read is not lost by its rotation", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		path := file(t, "old")
		a := &attribute{follow: true}
		files := a.open(ctx, []string{file(t, "first"), path}, &lines.Source{})
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := files[1].Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		text := make([]byte, len("old\nnew"))
		if _, err := io.ReadFull(r, text); err != nil || string(text) != "old\nnew" {
			t.Errorf("read %q, %v", text, err)
		}
	})
}
