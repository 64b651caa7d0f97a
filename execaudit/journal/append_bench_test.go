package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// BenchmarkAppend writes an intent: as plain lines, chained, and chained and sealed at the default intervals, each
// without waiting for the disk, with waiting, and from several goroutines that share syncs.
func BenchmarkAppend(b *testing.B) {
	r := journal.Intent(session, []string{"sh", "-c", "id"}, true, at)
	for _, form := range []string{"plain", "chained", "sealed"} {
		open := func(b *testing.B) *journal.Writer {
			dir := b.TempDir()
			path := filepath.Join(dir, "journal")
			var w *journal.Writer
			var err error
			switch form {
			case "plain":
				f, failed := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
				w, err = journal.NewWriter(f), failed
			case "chained":
				w, err = journal.Open(path, journal.Options{})
			case "sealed":
				key := filepath.Join(dir, "key")
				if err := journal.NewKey().Install(key); err != nil {
					b.Fatal(err)
				}
				w, err = journal.Open(path, journal.Options{KeyFile: key})
			}
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = w.Close() })
			return w
		}
		b.Run("unsynced/"+form, func(b *testing.B) {
			w := open(b)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.AppendUnsynced(r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("durable/"+form, func(b *testing.B) {
			w := open(b)
			for b.Loop() {
				if err := w.Append(r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("durable from 16/"+form, func(b *testing.B) {
			w := open(b)
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := w.Append(r); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkSeal writes a seal and replaces its key.
func BenchmarkSeal(b *testing.B) {
	dir := b.TempDir()
	key := filepath.Join(dir, "key")
	if err := journal.NewKey().Install(key); err != nil {
		b.Fatal(err)
	}
	w, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{KeyFile: key, SealInterval: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		if err := w.Seal(); err != nil {
			b.Fatal(err)
		}
	}
}
