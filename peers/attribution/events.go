package attribution

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"time"
)

// WriteEvents writes Tetragon's export: a third of the processes belong to sessions, in trees two deep; each has an
// exec and an exit, a session's shell when the session ends.
func (l Logs) WriteEvents(w io.Writer) error {
	g, out := l.generator(2), bufio.NewWriterSize(w, 1<<20)
	g.run(func(p process, at time.Time, kind string) { g.event(out, p, at, kind) })
	return out.Flush()
}

// run calls f with each event in the order of time.
func (g *generator) run(f func(p process, at time.Time, kind string)) {
	begun := 0
	var exits, shells []exit
	for i := 0; i < g.Events; i++ {
		at := dawn.Add(50*time.Millisecond + eventGap*time.Duration(i))
		switch {
		case begun < g.sessions() && !dawn.Add(20*time.Millisecond+step*time.Duration(begun)).After(at):
			shell := process{number: i, session: begun, pod: pod(begun), parent: -1}
			f(shell, at, "process_exec")
			shells = append(shells, exit{shell, i + g.sessionEvents()})
			g.roots = append(g.roots, i)
			begun++
			continue
		case len(shells) > 0 && shells[0].due <= i:
			f(shells[0].process, at, "process_exit")
			shells = shells[1:]
			continue
		case len(exits) > 0 && exits[0].due <= i:
			f(exits[0].process, at, "process_exit")
			exits = exits[1:]
			continue
		}
		p := g.choose(i, begun)
		f(p, at, "process_exec")
		exits = append(exits, exit{p, i + 40})
	}
}

// sessionEvents is how many events are written while a session lasts.
func (l Logs) sessionEvents() int { return int(step*time.Duration(l.Open)/eventGap) + 1 }

type exit struct {
	process process
	due     int
}

// process is one process of the plan; number makes its identity.
type process struct {
	number, session, pod, parent int
}

// pid returns a number that another process has again 108 seconds later; sessions are shorter.
func (p process) pid() int { return 1000 + p.number%30000 }

// choose makes a child of an open session's shell, or a process of some container.
func (g *generator) choose(i, begun int) process {
	if begun > 0 && g.random.IntN(3) == 0 {
		s := begun - 1 - g.random.IntN(min(begun, g.Open))
		return process{i, s, pod(s), g.roots[s]}
	}
	return process{i, -1, g.random.IntN(5000), 1 << 40}
}

// execID is as Tetragon makes one: of the node, of when the image began in nanoseconds since boot, and of the PID.
func execID(node string, n int) string {
	since := n // of what has run since the boot
	if n < 1<<40 {
		since = (firstTick + n) * int(10*time.Millisecond)
	}
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d:%d", node, since, n%(1<<22)))
}

func (g *generator) event(w io.Writer, p process, at time.Time, kind string) {
	n := node(p.pod)
	fmt.Fprintf(w, `{"%s":{"process":{"exec_id":"%s","pid":%d,"uid":0,"cwd":"/srv/app","binary":"/usr/bin/bash","arguments":"-c \"id; cat /etc/hosts %d\"","flags":"execve clone","start_time":"%s","auid":4294967295,"pod":{"namespace":"shop-%02d","name":"web-%04d","container":{"id":"containerd://%s","name":"app","image":{"name":"registry.example/shop/web:v1.4.2"}}},"docker":"%s","parent_exec_id":"%s","tid":%d,"in_init_tree":false`,
		kind, execID(n, p.number), p.pid(), p.number, stamp(at), p.pod%40, p.pod, container(p.pod), container(p.pod)[:15], g.parentID(n, p), p.pid())
	if p.session >= 0 {
		fmt.Fprintf(w, `,"environment_variables":[{"Key":"KUBERNETES_EXEC_AUDIT_ID","Value":"%s"}]`, id(p.session))
	}
	fmt.Fprintf(w, `},"parent":{"exec_id":"%s","pid":4700,"uid":0,"cwd":"/","binary":"/usr/bin/containerd-shim-runc-v2","flags":"procFS auid rootcwd","start_time":"2026-11-20T10:00:00Z","auid":4294967295`, g.parentID(n, p))
	if p.parent >= 0 {
		fmt.Fprintf(w, `,"docker":"%s"`, container(p.pod)[:15])
	}
	fmt.Fprintf(w, `,"parent_exec_id":"%s"}},"node_name":"%s","time":"%s"}`+"\n", execID(n, 1<<41), n, stamp(at))
}

func (g *generator) parentID(node string, p process) string {
	if p.parent < 0 {
		return execID(node, 1<<42)
	}
	return execID(node, p.parent)
}
