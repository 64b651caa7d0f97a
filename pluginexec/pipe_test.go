package pluginexec

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestPipeKeepsWhatWasWrittenInTime has a reader come too late: its deadline has
// passed, a grandchild holds the other end, and the answer is still in the pipe.
func TestPipeKeepsWhatWasWrittenInTime(t *testing.T) {
	const answer = 60 << 10 // within a pipe's capacity
	var got bytes.Buffer
	p, err := newPipe(&got)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.writer.WriteString(strings.Repeat("x", answer)); err != nil {
		t.Fatal(err)
	}
	if err := p.reader.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Skipf("pipes have no deadline here: %v", err)
	}
	p.err = os.ErrDeadlineExceeded
	close(p.done) // the reader that had no turn
	p.finish(0)
	if got.Len() != answer {
		t.Errorf("%d bytes of the answer were kept, want %d", got.Len(), answer)
	}
	if err := p.writer.Close(); err != nil {
		t.Fatal(err)
	}
}
