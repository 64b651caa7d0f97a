package conformance_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
	"github.com/lanyard-dev/lanyard/examples/parts"
)

// build makes the tool as its users do, once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lanyard-test-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", dir, ".")
	cmd.Dir = filepath.Join("..", "..", "criconformance", "cmd", "criconformance")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "criconformance"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// tool runs the tool and returns its exit code and output.
func tool(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := toolCommand(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func toolCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(path, append([]string{"--timeout", patience.String()}, args...)...)
}

func TestTool(t *testing.T) {
	endpoint := serve(t, newConfig(t))
	t.Run("CON-5 CON-8 it needs the endpoint only, and is itself the program in its image", func(t *testing.T) {
		junit := filepath.Join(newDir(t), "junit.xml")
		code, out, errs := tool(t, "--runtime-endpoint", endpoint, "--require", "envs,envs-bytes,groups,ids", "--output", "json", "--junit", junit)
		var report suite.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
			t.Fatalf("exit code %d, %v, stderr %s\n%s", code, err, errs, out)
		}
		if report.Count(suite.OutcomePass) != len(suite.Cases()) {
			t.Errorf("%s\n%s", report.Summary(), out)
		}
		checkJUnit(t, junit, len(suite.Cases()))
	})
	t.Run("CON-8 it exits with 1 when a case failed", func(t *testing.T) {
		endpoint := broken{environ: dropsEmpty}.endpoint(t)
		code, out, _ := tool(t, "--runtime-endpoint", endpoint, "--focus", "envs/(injected|empty)")
		if code != 1 || !strings.Contains(out, "fail         CON-2   envs/empty-value") {
			t.Errorf("exit code %d\n%s", code, out)
		}
	})
	for name, args := range map[string][]string{
		"no endpoint":      {},
		"nobody there":     {"--runtime-endpoint", "unix:///nowhere.sock"},
		"no case":          {"--runtime-endpoint", endpoint, "--focus", "nothing"},
		"unknown feature":  {"--runtime-endpoint", endpoint, "--require", "everything"},
		"unknown output":   {"--runtime-endpoint", endpoint, "--output", "yaml"},
		"dynamic reporter": {"--runtime-endpoint", endpoint, "--reporter", "/bin/sh"},
	} {
		t.Run("CON-8 it exits with 2 and says why: "+name, func(t *testing.T) {
			if code, _, errs := tool(t, args...); code != 2 || errs == "" {
				t.Errorf("exit code %d, stderr %q", code, errs)
			}
		})
	}
	t.Run("CON-5 its images as an archive", func(t *testing.T) {
		file := filepath.Join(newDir(t), "images.tar")
		if code, _, errs := tool(t, "--write-archive", file, "--images", "localhost/conformance"); code != 0 {
			t.Fatal(errs)
		}
		if info, err := os.Stat(file); err != nil || info.Size() < 1<<20 {
			t.Errorf("archive: %v, %v", info, err)
		}
	})
	t.Run("CON-8 nothing stays", func(t *testing.T) { checkGone(t, endpoint) })
}

func checkJUnit(t *testing.T, path string, cases int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests int        `xml:"tests,attr"`
		Cases []struct{} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b, &got); err != nil || got.Tests != cases || len(got.Cases) != cases {
		t.Errorf("JUnit has %d tests and %d cases, %v; want %d", got.Tests, len(got.Cases), err, cases)
	}
}

// kills is how many runs are killed at a random moment.
const kills = 6

func TestToolEndsEarly(t *testing.T) {
	endpoint := serve(t, newConfig(t))
	t.Run("CON-8 what killed runs left, the next one removes", func(t *testing.T) {
		for range kills {
			startAndSignal(t, endpoint, syscall.SIGKILL)
		}
		if code, out, errs := tool(t, "--runtime-endpoint", endpoint, "--focus", "envs/injected"); code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, out, errs)
		}
		checkGone(t, endpoint)
	})
	t.Run("CON-8 it cleans up after an interrupt", func(t *testing.T) {
		for range 2 {
			startAndSignal(t, endpoint, os.Interrupt)
			checkGone(t, endpoint)
		}
	})
	t.Run("CON-8 two runs leave each other alone", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if code, out, errs := tool(t, "--runtime-endpoint", endpoint, "--focus", "envs/"); code != 0 {
					t.Errorf("exit code %d\n%s%s", code, out, errs)
				}
			})
		}
		wg.Wait()
		checkGone(t, endpoint)
	})
}

// startAndSignal runs the tool and sends it the signal at a random moment of its run.
func startAndSignal(t *testing.T, endpoint string, signal os.Signal) {
	t.Helper()
	cmd := toolCommand(t, "--runtime-endpoint", endpoint)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		return
	case <-time.After(time.Duration(rand.Int64N(int64(3 * time.Second)))):
	}
	_ = cmd.Process.Signal(signal)
	<-ended
}

// TestLoopbackOnly runs runtime and tool in a network of their own, that has nothing but loopback.
func TestLoopbackOnly(t *testing.T) {
	programs := parts.Need(t, "lanyard-runtime", "runc", "lanyard-monitor")
	t.Run("CON-5 no network beyond loopback", func(t *testing.T) {
		dir := newDir(t)
		socket := filepath.Join(dir, "cri.sock")
		server := exec.Command(programs[0], "--root", filepath.Join(dir, "root"), "--socket", socket, "--runc", programs[1], "--monitor", programs[2])
		client := toolCommand(t, "--runtime-endpoint", "unix://"+socket, "--focus", "^envs/(injected|over-baseline)$|^groups/strict$")
		var out, said bytes.Buffer
		client.Stdout, client.Stderr, server.Stderr = &out, &out, &said
		inLoneNetwork(t, func() error {
			if err := server.Start(); err != nil {
				return err
			}
			awaitFile(t, socket)
			return errors.Join(client.Run(), server.Process.Signal(os.Interrupt), server.Wait())
		}, &out, &said)
		if !strings.Contains(out.String(), "3 passed, 0 failed") {
			t.Errorf("the tool said\n%s", out.String())
		}
	})
}

// inLoneNetwork runs f, with the processes that it starts, in a new network namespace with a loopback.
func inLoneNetwork(t *testing.T, f func() error, said ...fmt.Stringer) {
	t.Helper()
	failed := make(chan error, 1)
	go func() {
		// The thread is not given back: it ends with the goroutine.
		runtime.LockOSThread()
		for _, step := range []func() error{func() error { return unix.Unshare(unix.CLONE_NEWNET) }, loopbackUp, f} {
			if err := step(); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	if err := <-failed; err != nil {
		t.Fatalf("%v: %v", err, said)
	}
}

func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}

// awaitFile waits until the file is there.
func awaitFile(t *testing.T, path string) {
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("no %s", path)
}
