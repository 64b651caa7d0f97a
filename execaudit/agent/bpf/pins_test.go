//go:build linux && (amd64 || arm64)

package bpf_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/execaudit/agent/bpf"
	"github.com/lanyard-dev/lanyard/redact"
)

// bpffs returns a directory in a BPF file system of the test's own, which goes with all that is pinned in it.
func bpffs(t *testing.T) string {
	t.Helper()
	mount := t.TempDir()
	if err := unix.Mount("bpf", mount, "bpf", 0, "mode=0700"); err != nil {
		t.Skipf("a BPF file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(mount, "lanyard")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// event names one event of one boot.
type event struct {
	kind     agent.Kind
	cpu      int
	sequence uint64
}

func eventOf(o *agent.Observation) event { return event{o.Kind, o.CPU, o.Sequence} }

// done says what a process did, whoever told it.
type done struct {
	kind agent.Kind
	task agent.Task
	args string
}

func doneBy(o *agent.Observation) done { return done{o.Kind, o.Task, string(o.Args.Reveal())} }

func count[K comparable](all []agent.Observation, key func(*agent.Observation) K) map[K]int {
	n := map[K]int{}
	for i := range all {
		n[key(&all[i])]++
	}
	return n
}

// busy is a marked shell that makes so many processes, each with its number as the argument.
func (w *watched) busy(n int) *exec.Cmd {
	return w.command("/bin/sh", "-c", `i=0; while [ $i -lt `+strconv.Itoa(n)+` ]; do /bin/true $i; i=$((i+1)); done`)
}

// whole checks that the events are those of a busy shell and its n processes, each once.
func whole(t *testing.T, all []agent.Observation, n int) {
	t.Helper()
	for what, times := range count(all, doneBy) {
		if times != 1 {
			t.Errorf("%+v was told %d times", what, times)
		}
	}
	kinds := count(all, func(o *agent.Observation) agent.Kind { return o.Kind })
	if kinds[agent.KindFork] != n || kinds[agent.KindExec] != n+1 || kinds[agent.KindExit] != n+1 {
		t.Errorf("told %d forks, %d execs and %d exits, want %d, %d and %d",
			kinds[agent.KindFork], kinds[agent.KindExec], kinds[agent.KindExit], n, n+1, n+1)
	}
}

func TestPins(t *testing.T) {
	t.Run("AGT-2 a reader reads on where the last one told", func(t *testing.T) {
		dir, uid := bpffs(t), privateUID()
		o := bpf.Options{PinDir: dir, MinLoginUID: uid, MaxLoginUID: uid}
		first := load(t, o)
		if err := first.busy(5).Run(); err != nil {
			t.Fatal(err)
		}
		first.SetDeadline(time.Now().Add(patience))
		var told, again, fresh []agent.Observation
		for i := range 9 {
			o, err := first.next()
			if err != nil {
				t.Fatal(err)
			}
			if i < 4 {
				told = append(told, o)
				first.Told(first.Position(), 0)
			}
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := first.command("/bin/true").Run(); err != nil { // while nobody reads
			t.Fatal(err)
		}
		second := load(t, o)
		for _, o := range second.drain() {
			if o.Again {
				again = append(again, o)
			} else {
				fresh = append(fresh, o)
			}
		}
		if len(again) != 5 {
			t.Errorf("%d events are told to be told again, want 5", len(again))
		}
		all := slices.Concat(told, again, fresh)
		for e, n := range count(all, eventOf) {
			if n != 1 {
				t.Errorf("%+v was read %d times", e, n)
			}
		}
		if want := 17 + 2; len(all) != want {
			t.Errorf("%d events, want %d", len(all), want)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		if third := load(t, o).drain(); len(third) != 0 {
			t.Errorf("what was told came again: %+v", third)
		}
	})
	t.Run("AGT-2 lost events that were told are not told again", func(t *testing.T) {
		dir, uid := bpffs(t), privateUID()
		o := bpf.Options{PinDir: dir, MinLoginUID: uid, MaxLoginUID: uid, RingBytes: os.Getpagesize()}
		first := load(t, o)
		if err := first.busy(50).Run(); err != nil {
			t.Fatal(err)
		}
		c, err := first.Counters()
		if err != nil || c.Lost() == 0 || c.LostTold != 0 {
			t.Fatalf("counters are %+v, %v", c, err)
		}
		first.Told(first.Position(), c.Lost())
		_ = first.Close()
		o.RingBytes = 0 // a pinned ring keeps its size
		second := load(t, o)
		again, err := second.Counters()
		if err != nil || again.LostTold != c.Lost() || again.Lost() != c.Lost() {
			t.Errorf("counters are %+v, %v, before %+v", again, err, c)
		}
	})
	t.Run("AGT-2 programs are replaced without a gap, and nothing is told twice", func(t *testing.T) {
		dir, uid := bpffs(t), privateUID()
		o := bpf.Options{PinDir: dir, MinLoginUID: uid, MaxLoginUID: uid, RingBytes: 1 << 20}
		w := load(t, o)
		const processes = 1500
		cmd := w.busy(processes)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var all []agent.Observation
		for replaced := 1; ; replaced++ {
			_ = w.Close()
			o.ArgBytes = 100 + replaced%50
			o.Raw = replaced%3 == 0
			w = load(t, o)
			all = append(all, w.drain()...)
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
				whole(t, append(all, w.drain()...), processes)
				t.Logf("replaced %d times during %d processes", replaced, processes)
				return
			default:
			}
		}
	})
	t.Run("AGT-2 what another layout left unread is counted", func(t *testing.T) {
		dir, uid := bpffs(t), privateUID()
		o := bpf.Options{PinDir: dir, MinLoginUID: uid, MaxLoginUID: uid}
		w := load(t, o)
		if err := w.busy(5).Run(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		if err := os.Rename(filepath.Join(dir, "v1"), filepath.Join(dir, "v0")); err != nil {
			t.Fatal(err)
		}
		w = load(t, o)
		if c, err := w.Counters(); err != nil || c.Lost() != 17 {
			t.Errorf("counters are %+v, %v, want 17 lost", c, err)
		}
		if all := w.run(w.command("/bin/true")); len(all) != 2 {
			t.Errorf("told %d events, want 2", len(all))
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("left are %v, %v", entries, err)
		}
	})
	t.Run("AGT-2 one reader at a time", func(t *testing.T) {
		o := bpf.Options{PinDir: bpffs(t), MinLoginUID: privateUID(), MaxLoginUID: 1<<32 - 2}
		load(t, o)
		if _, err := bpf.Load(o); !errors.Is(err, bpf.ErrInUse) {
			t.Errorf("Load = %v, want %v", err, bpf.ErrInUse)
		}
		if err := bpf.Remove(o.PinDir); !errors.Is(err, bpf.ErrInUse) {
			t.Errorf("Remove = %v, want %v", err, bpf.ErrInUse)
		}
	})
	t.Run("AGT-2 pins need a BPF file system", func(t *testing.T) {
		if _, err := bpf.Load(bpf.Options{PinDir: t.TempDir()}); !errors.Is(err, bpf.ErrNotBPFFS) {
			t.Errorf("Load = %v, want %v", err, bpf.ErrNotBPFFS)
		}
	})
	t.Run("AGT-7 Remove leaves nothing", func(t *testing.T) {
		o := bpf.Options{PinDir: bpffs(t), MinLoginUID: privateUID(), MaxLoginUID: 1<<32 - 2}
		_ = load(t, o).Close()
		if err := bpf.Remove(o.PinDir); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(o.PinDir); err != nil || len(entries) != 0 {
			t.Errorf("left are %v, %v", entries, err)
		}
	})
}

// lineFormat is what a reader writes of an event.
const lineFormat = "%d %d %d %d %d %t %q"

// reader is a reader that writes a line for each event and then says that it was told, until it is killed.
func reader(argument string) error {
	uid, dir, _ := strings.Cut(argument, ":")
	n, err := strconv.ParseUint(uid, 10, 32)
	if err != nil {
		return err
	}
	p, err := bpf.Load(bpf.Options{PinDir: dir, MinLoginUID: uint32(n), MaxLoginUID: uint32(n)})
	if err != nil {
		return err
	}
	for {
		var o agent.Observation
		if err := p.Read(&o); err != nil {
			return err
		}
		fmt.Printf(lineFormat+"\n", o.Kind, o.CPU, o.Sequence, o.PID, o.Start, o.Again, o.Args.Reveal())
		p.Told(p.Position(), 0)
	}
}

func TestKilled(t *testing.T) {
	t.Run("AGT-2 readers killed 50 times lose nothing", func(t *testing.T) {
		dir, uid := bpffs(t), privateUID()
		// The readers take little of what is made while they are started and killed: the ring has to hold the rest.
		o := bpf.Options{PinDir: dir, MinLoginUID: uid, MaxLoginUID: uid, RingBytes: 64 << 20}
		w := load(t, o)
		_ = w.Close()
		stop := filepath.Join(t.TempDir(), "stop")
		busy := w.command("/bin/sh", "-c",
			`i=0; while [ ! -e "$STOP" ] && [ $i -lt 20000 ]; do /bin/true $i; i=$((i+1)); done; echo $i`)
		busy.Env = append(busy.Env, "STOP="+stop)
		var made strings.Builder
		busy.Stdout = &made
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = busy.Process.Kill() })

		var all []agent.Observation
		told, doubles := map[event]bool{}, 0
		take := func(o agent.Observation) {
			switch e := eventOf(&o); {
			case !told[e]:
				told[e] = true
				all = append(all, o)
			case o.Again:
				doubles++
			default:
				t.Errorf("%+v came twice without a word", o)
			}
		}
		for killed := range 50 {
			killedReader(t, w.play("reader", ":"+dir), 1+2*killed, take)
		}
		if err := os.WriteFile(stop, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := busy.Wait(); err != nil {
			t.Fatal(err)
		}
		w = load(t, o)
		for _, o := range w.drain() {
			take(o)
		}
		n, err := strconv.Atoi(strings.TrimSpace(made.String()))
		if err != nil {
			t.Fatal(err)
		}
		whole(t, all, n)
		if c, err := w.Counters(); err != nil || c.Lost() != 0 || c.Seen != uint64(len(all)) {
			t.Errorf("counters are %+v, %v, want %d seen", c, err, len(all))
		}
		t.Logf("%d events of %d processes, %d of them written twice", len(all), n, doubles)
	})
}

// killedReader starts a reader, kills it after so many lines, and gives what it wrote.
func killedReader(t *testing.T, cmd *exec.Cmd, after int, take func(agent.Observation)) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); after-- {
		if after == 1 {
			_ = cmd.Process.Kill()
		}
		var o agent.Observation
		var args string
		_, err := fmt.Sscanf(lines.Text(), lineFormat, &o.Kind, &o.CPU, &o.Sequence, &o.PID, &o.Start, &o.Again, &args)
		if err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		o.Args = redact.NewBytes([]byte(args))
		take(o)
	}
	_ = cmd.Wait()
	if after > 0 {
		t.Fatalf("a reader ended %d lines early", after)
	}
}
