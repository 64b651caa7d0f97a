package procwatch

import (
	"encoding/hex"
	"strings"
	"testing"
)

// forkMessage is as Linux 6.18 sent it on x86-64.
const forkMessage = "4c000000030000000100000000000000010000000100000001000000000000002800000001000000000000003dada6bff006000098560000985600009d5600009d5600000000000000000000"

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
	if want := (notice{what: whatFork, since: 0x6f0bfa6ad3d, thread: 0x569d, process: 0x569d, parent: 0x5698}); !ok || n != want {
		t.Errorf("parse = %+v, %v, want %+v", n, ok, want)
	}
}

func TestContainerIn(t *testing.T) {
	id, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for name, c := range map[string]struct{ cgroups, want string }{
		"host":                              {"0::/user.slice\n", ""},
		"reference runtime":                 {"8:pids:/kubepods/lanyard-" + id + "\n0::/\n", id},
		"systemd driver":                    {"0::/kubepods.slice/cri-containerd-" + id + ".scope\n", id},
		"cgroupfs driver":                   {"0::/k8s.io/" + id + "\n", id},
		"ATT-5 a group made in a container": {"0::/lanyard-" + id + "/lanyard-" + other + "\n", id},
		"a longer number":                   {"0::/" + id + "ab\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := containerIn(c.cgroups); got != c.want {
				t.Errorf("containerIn = %q, want %q", got, c.want)
			}
		})
	}
}

func TestEnded(t *testing.T) {
	t.Run("ATT-2 the end of a first thread is not the end of its process", func(t *testing.T) {
		processes := table{7: {pid: 7, threads: 2}}
		if processes.ended(notice{thread: 7, process: 7}) != nil {
			t.Error("ended with a thread alive")
		}
		if processes.ended(notice{thread: 8, process: 7}) == nil {
			t.Error("not ended with its last thread")
		}
	})
}
