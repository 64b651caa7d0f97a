package journal_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// TestOrder has records whose times are not in the order of the lines.
func TestOrder(t *testing.T) {
	t.Run("ATT-14 an end that is older than the record before it is read and verified", func(t *testing.T) {
		s := newSealed(t)
		w := s.open(t)
		late := journal.End(session, process, 0, at.Add(-time.Hour))
		seen := journal.End(session, process, 7, at.Add(time.Hour))
		seen.Reason = "it was reaped before its end was seen"
		want := []journal.Record{journal.Start(session, process, at), late, journal.Intent(session, []string{"sh"}, false, at), seen}
		for _, r := range want {
			mustDo(t, w.Append(r))
		}
		mustDo(t, w.Close())
		if r := s.verify(t); r.Err() != nil || r.Trusted.Records != len(want) {
			t.Errorf("%s: %d of %d records are trusted: %v", filepath.Base(s.files(t)[0]), r.Trusted.Records, len(want), r.Err())
		}
		got, faults := s.records(t)
		if len(got) != len(want) || faults != nil {
			t.Fatalf("read %d records, %v", len(got), faults)
		}
		for i := range want {
			if !got[i].Time.Equal(want[i].Time) || got[i].Reason != want[i].Reason {
				t.Errorf("record %d = %+v, want %+v", i, got[i], want[i])
			}
		}
	})
}
