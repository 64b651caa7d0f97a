package journal_test

import (
	"bytes"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// BenchmarkDecode reads an intent and an end, beside encoding/json key by key, which refuses the same lines.
func BenchmarkDecode(b *testing.B) {
	d := newDisk()
	w := journal.NewWriter(d)
	for _, r := range []journal.Record{journal.Intent(session, []string{"sh", "-c", "id"}, true, at), journal.End(session, process, 0, at)} {
		if err := w.AppendUnsynced(r); err != nil {
			b.Fatal(err)
		}
	}
	for i, line := range bytes.SplitN(bytes.TrimSpace(d.written.Bytes()), []byte("\n"), 2) {
		name := []string{"intent", "end"}[i]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			var d journal.Decoder
			var r journal.Record
			for b.Loop() {
				if err := d.Decode(line, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+" by encoding/json", func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reference(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
