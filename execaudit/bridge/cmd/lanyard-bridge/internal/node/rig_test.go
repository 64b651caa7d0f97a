//go:build linux

package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Variables that make the test's program another one.
const (
	wrapperVariable = "LANYARD_TEST_WRAPPER"
	daemonVariable  = "LANYARD_TEST_DAEMON"
)

func init() {
	if os.Getenv(wrapperVariable) != "" {
		runtime.LockOSThread() // the main thread
	}
}

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(wrapperVariable) != "":
		fmt.Fprintln(os.Stderr, wrap())
		os.Exit(1)
	case os.Getenv(daemonVariable) != "":
		os.Exit(serveDaemon())
	}
	os.Exit(m.Run())
}

// wrapping is what the test's program does in the place of lanyard-oci.
type wrapping struct {
	Spool  string
	Record spool.Record
	Cgroup string   // to enter before the program
	Argv   []string // the real runtime, or what it would start
}

func wrap() error {
	var w wrapping
	if err := json.Unmarshal([]byte(os.Getenv(wrapperVariable)), &w); err != nil {
		return err
	}
	r := w.Record
	r.LoginUID = r.Session.LoginUID()
	if err := os.WriteFile("/proc/thread-self/loginuid", []byte(strconv.FormatUint(uint64(r.LoginUID), 10)), 0); err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/thread-self/sessionid")
	if err != nil {
		return err
	}
	session, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil {
		return err
	}
	r.SessionID, r.BootID, r.Mark = uint32(session), bootID(), spool.MarkSet
	claim, err := spool.Take(w.Spool, r.Nonce)
	if err != nil {
		return err
	}
	if err := claim.Commit(r); err != nil {
		return err
	}
	if w.Cgroup != "" {
		if err := os.WriteFile(filepath.Join(w.Cgroup, "cgroup.procs"), []byte("0"), 0); err != nil {
			return err
		}
	}
	os.Unsetenv(wrapperVariable)
	return syscall.Exec(w.Argv[0], w.Argv, os.Environ())
}

func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}

// serveDaemon is the daemon as a process of its own.
func serveDaemon() int {
	var o Options
	if err := json.Unmarshal([]byte(os.Getenv(daemonVariable)), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// patience bounds what a test waits for. It is not a figure of anything.
const patience = 60 * time.Second

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v", what, patience)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options are those of a daemon on a host in a temporary directory.
func options(t testing.TB) Options {
	t.Helper()
	dir := t.TempDir()
	o := Options{
		Node: "n1", Namespace: "lanyard-system", HostRoot: dir, State: "/state", Proc: "/proc", NoLease: true,
		LeaseDuration: DefaultLeaseDuration, Rescan: time.Hour,
	}
	must(t, os.MkdirAll(o.spoolDir(), 0o700))
	return o
}

func (o *Options) spoolDir() string    { return o.host("/state/spool") }
func (o *Options) journalFile() string { return o.host("/state/journal/sessions.jsonl") }

// start runs the daemon here until the test ends, or stop is called.
func start(t testing.TB, o Options) (status *board, stop func()) {
	t.Helper()
	o = o.withDefaults()
	status = newBoard(o)
	d, err := newDaemon(o, status)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- d.run(ctx) }()
	stop = func() {
		if cancel != nil {
			cancel()
			cancel = nil
			if err := <-done; err != nil {
				t.Errorf("run = %v", err)
			}
		}
	}
	t.Cleanup(stop)
	return status, stop
}

// record returns a record of a session that nobody runs.
func record(n int) spool.Record {
	r := spool.Record{
		Session: bridge.NewSessionID(), Expiry: time.Now().Add(time.Minute).UTC(), Key: "0011223344556677",
		Where: spool.Where{
			Node: "n1", Namespace: "shop", Pod: "web-0", PodUID: "u", Container: "app",
			ContainerID: fmt.Sprintf("lanyardtest%dx%d", os.Getpid(), n), ExecID: fmt.Sprintf("exec%d", n),
		},
		BootID: bootID(), SessionID: 1 << 30, Mark: spool.MarkSet, Argv: []string{"sh", "-c", strconv.Itoa(n)}, Time: time.Now().UTC(),
	}
	r.Nonce, r.LoginUID, r.SessionID = [16]byte(r.Session), r.Session.LoginUID(), r.SessionID+uint32(n)
	return r
}

func leave(t testing.TB, dir string, r spool.Record) {
	t.Helper()
	claim, err := spool.Take(dir, r.Nonce)
	must(t, err)
	must(t, claim.Commit(r))
}

// records reads a journal that somebody may be writing.
func records(t testing.TB, path string) []journal.Record {
	t.Helper()
	files, err := journal.Files(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	must(t, err)
	var all []journal.Record
	for _, name := range files {
		f, err := os.Open(name)
		must(t, err)
		for r, err := range journal.NewReader(f, name).Records() {
			if err == nil {
				all = append(all, r)
			}
		}
		must(t, f.Close())
	}
	return all
}

// of returns the records of one kind and session.
func of(all []journal.Record, kind journal.Kind, session string) (found []journal.Record) {
	for _, r := range all {
		if r.Kind == kind && (session == "" || r.ExecSession == session) {
			found = append(found, r)
		}
	}
	return found
}

// cgroup makes one that is named as a container would name it.
func cgroup(t testing.TB, name string) string {
	t.Helper()
	for _, parent := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", "/sys/fs/cgroup"} {
		if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
			continue
		}
		dir := filepath.Join(parent, name)
		must(t, os.Mkdir(dir, 0o755))
		t.Cleanup(func() {
			eventually(t, "the cgroup is empty", func() bool { return os.Remove(dir) == nil })
		})
		return dir
	}
	t.Fatal("no cgroup file system is mounted")
	return ""
}

// wrapper is the test's program in the place of lanyard-oci.
func wrapper(t testing.TB, w wrapping) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(w)
	must(t, err)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), wrapperVariable+"="+string(text))
	log, err := os.Create(filepath.Join(t.TempDir(), "stderr")) // a pipe would stay open as long as what is left behind
	must(t, err)
	t.Cleanup(func() {
		if text, _ := os.ReadFile(log.Name()); len(text) > 0 {
			t.Logf("%s", text)
		}
		must(t, log.Close())
	})
	c.Stderr = log
	return c
}
