//go:build linux

package theatre_test

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/execaudit/agent/internal/theatre"
)

// pinDir mounts a BPF file system for the test and returns a directory in it.
func pinDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("bpf", dir, "bpf", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=700"); err != nil {
		t.Skip("mount a BPF file system: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestProgramsReplaced(t *testing.T) {
	t.Run("AGT-2 readers and programs that follow each other: each event once, none left out", func(t *testing.T) {
		rounds := 10
		if os.Getenv("LANYARD_SOAK") != "" {
			rounds = 100
		}
		stage, logins := theatre.Open(t, 8*rounds*theatre.ProcessesPerRound+200), theatre.FreeLogins()
		dir := pinDir(t)
		var facts []theatre.Fact
		played := make(chan struct{})
		container := theatre.NewContainer(t)
		p := load(t, bpf.Options{PinDir: dir}, logins)
		go func() {
			defer close(played)
			facts = play(t, stage, casts(8, rounds, logins, container), logins)
		}()
		var told []theatre.Fact
		replaced, over := 0, false
		for ; !over; replaced++ {
			select {
			case <-played:
				over = true
			default:
			}
			told = append(told, read(p).end(t)...)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			p = load(t, bpf.Options{PinDir: dir, ArgBytes: 1000 + replaced/2%2}, logins) // every other time others
		}
		told = append(told, read(p).end(t)...)
		c, err := p.Counters()
		if err := errors.Join(err, p.Close(), bpf.Remove(dir)); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d readers", replaced)
		judge(t, facts, told, c.Lost())
	})
}
