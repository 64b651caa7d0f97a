package kubernetes_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
)

// killedVariable makes TestKilled the helper, and says which cluster it starts.
const killedVariable = "LANYARD_KILLED_HELPER"

// beKilled is what the process does that TestKilled ends. It has a cluster, says where on the standard output, and then
// does as the standard input says.
func beKilled(t *testing.T, cluster string) {
	t.Helper()
	var c *kubernetes.Cluster
	var pods []*corev1.Pod
	var err error
	switch cluster {
	case "whole":
		if c, err = kubernetes.Start(t.Context(), kubernetes.Options{}); err != nil {
			t.Fatal(err)
		}
		pod, err := c.Run(t.Context(), &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, pod)
	case "part":
		c = startPart(t)
	default:
		t.Fatalf("no cluster %q", cluster)
	}
	text, err := json.Marshal(placeOf(t, c, pods...))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\n%s\n", text)
	if said, _ := bufio.NewReader(os.Stdin).ReadString('\n'); said == "print\n" {
		fmt.Println("where nobody reads")
	}
	go func() { panic("as a test does that has run for too long") }()
	select {}
}

// startPart is a cluster that is still being started.
func startPart(t *testing.T) *kubernetes.Cluster {
	t.Helper()
	c, err := kubernetes.New(kubernetes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.AddNode(kubernetes.Node{})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []func(context.Context) error{c.StartEtcd, w.StartContainerd} {
		if err := start(t.Context()); err != nil {
			t.Fatal(err, c.Stop())
		}
	}
	return c
}

func TestKilled(t *testing.T) {
	if cluster := os.Getenv(killedVariable); cluster != "" {
		beKilled(t, cluster)
	}
	kubernetes.Need(t)
	dir := newDir(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	beside := startPart(t)
	t.Cleanup(func() {
		if err := beside.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		name, cluster string
		end           func(helper) error
	}{
		{"STK-13 SIGKILL of the process that started a cluster leaves nothing", "whole", killed},
		{"STK-13 SIGPIPE while it starts", "part", func(h helper) error {
			closed := h.out.Close()
			_, err := io.WriteString(h.in, "print\n")
			return errors.Join(closed, err)
		}},
		{"STK-13 an interrupt of its process group", "part", func(h helper) error {
			return syscall.Kill(-h.cmd.Process.Pid, syscall.SIGINT)
		}},
		{"STK-13 a panic", "part", func(h helper) error { return h.in.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startAndEnd(t, c.cluster, c.end)
			var left []string
			if err := kubernetes.Await(t.Context(), "the end of all", func(context.Context) (bool, error) {
				left = p.left()
				return len(left) == 0, nil
			}); err != nil {
				t.Errorf("%v:\n%s", err, strings.Join(left, "\n"))
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
				t.Errorf("the directory of temporary files has %v, %v; want only the cluster's beside", files, err)
			}
			conn, err := beside.Dial(t.Context(), "tcp", "127.0.0.1:2379")
			if err != nil {
				t.Fatalf("the cluster beside: %v", err)
			}
			conn.Close()
		})
	}
	t.Run("STK-13 the caller's directory is the caller's to remove", func(t *testing.T) {
		own := newDir(t)
		c, err := kubernetes.New(kubernetes.Options{Dir: own})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.AuthorityFile()); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(own); err != nil {
			t.Fatal(err)
		}
	})
}

func TestKeeperKilled(t *testing.T) {
	kubernetes.Need(t)
	t.Run("STK-13 stop leaves nothing where the keeper was killed", func(t *testing.T) {
		c, err := kubernetes.New(kubernetes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := placeOf(t, c)
		stray := exec.Command(parts.Need(t, "lanyard-reporter")[0], "ignore")
		if err := c.Launch(stray); err != nil {
			t.Fatal(err, c.Stop())
		}
		reaped := make(chan error, 1)
		go func() { reaped <- stray.Wait() }()
		keepers := 0
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			if text, _ := os.ReadFile(file); strings.HasPrefix(string(text), "lanyard-keeper\x00"+c.Dir()+"\x00") {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
				keepers++
			}
		}
		if keepers != 1 {
			t.Errorf("%d keepers, want 1", keepers)
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		<-reaped
		p.gone(t)
	})
}

// helper is a process that runs TestKilled to be killed.
type helper struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Closer
}

func killed(h helper) error { return h.cmd.Process.Kill() }

// startAndEnd ends a helper once it has its cluster, and returns where that was.
func startAndEnd(t *testing.T, cluster string, end func(helper) error) (p place) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.v")
	cmd.Env = append(os.Environ(), killedVariable+"="+cluster)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); p.Dir == "" && lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "{") {
			if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
				t.Error(err)
			}
		}
	}
	if p.Dir == "" {
		t.Fatalf("the helper ended: %v\n%s", cmd.Wait(), said.String())
	}
	if len(p.left()) == 0 {
		t.Error("nothing was there to be left")
	}
	if err := end(helper{cmd, in, out}); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the helper ended well, want that it was killed")
	}
	return p
}
