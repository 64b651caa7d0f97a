package connector

import (
	"encoding/hex"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/proc"
)

// forkMessage is as Linux 6.18 sent it on x86-64.
const forkMessage = "4c0000000300000001000000000000000100000001000000010000000000000028000000" +
	"01000000000000003dada6bff006000098560000985600009d5600009d5600000000000000000000"

func FuzzParse(f *testing.F) {
	message, err := hex.DecodeString(forkMessage)
	if err != nil {
		f.Fatal(err)
	}
	for size := range len(message) + 1 {
		f.Add(message[:size])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := parse(b); ok && len(b) < dataAt+4 {
			t.Errorf("parse of %d bytes = %+v", len(b), n)
		}
	})
}

func TestParse(t *testing.T) {
	message, err := hex.DecodeString(forkMessage)
	if err != nil {
		t.Fatal(err)
	}
	n, ok := parse(message)
	want := notice{what: whatFork, since: 0x6f0bfa6ad3d, thread: 0x569d, process: 0x569d, parent: 0x5698}
	if !ok || n != want {
		t.Errorf("parse = %+v, %v, want %+v", n, ok, want)
	}
}

func TestEnded(t *testing.T) {
	t.Run("ATT-2 AGT-4 the end of a first thread is not the end of its process", func(t *testing.T) {
		processes, fs := table{7: {threads: 2}}, proc.New(proc.Options{Root: t.TempDir()})
		if processes.ended(notice{thread: 7, process: 7}, fs) != nil {
			t.Error("ended with a thread alive")
		}
		if processes.ended(notice{thread: 8, process: 7}, fs) == nil {
			t.Error("not ended with its last thread")
		}
	})
}
