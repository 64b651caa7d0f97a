// Package tetragon reads process events from Tetragon's JSON export.
//
// Tetragon 1.7.0 and later report the environment when run with --enable-process-environment-variables (see also
// --filter-environment-variables KUBERNETES_EXEC_AUDIT_ID,LANYARD_EXEC_SESSION); older ones give process trees without
// IDs, which an exec journal can still attribute.
package tetragon

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/intake"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// Decode appends the event of one line to out.Events: process_exec, process_exit, and as activity every other
// process_ event.
//
// A process is identified by its exec_id, which is new with every image and no hash. The first image of a process that
// was cloned for it (flag "clone"), by a parent without a container, is compared with the journal's first processes.
// Its auid is the login UID.
func Decode(line []byte, out *attribution.Batch) error {
	b := intake.For(out)
	c := scan.New(line)
	if !c.Object() {
		return attribution.ErrMalformed
	}
	var e attribution.Event
	found := false
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch {
		case string(key) == "node_name":
			e.Node = b.Name(c.Raw())
		case string(key) == "time":
			e.Time = c.Time()
		case bytes.HasPrefix(key, []byte("process_")):
			e.Kind = kind(key)
			found = body(&c, b, &e)
		default:
			c.Skip()
		}
	}
	if !c.OK() {
		return attribution.ErrMalformed
	}
	if !found {
		b.Ignored.NoProcess++
		return nil
	}
	return keep(b, &e)
}

func kind(key []byte) attribution.Kind {
	switch string(key) {
	case "process_exec":
		return attribution.KindExec
	case "process_exit":
		return attribution.KindExit
	}
	return attribution.KindActivity
}

func keep(b *intake.Batch, e *attribution.Event) error {
	if !e.Process.Identified() {
		return attribution.ErrMalformed
	}
	e.Agent = "tetragon"
	e.FirstImage = e.FirstImage && e.Kind == attribution.KindExec
	if e.FirstImage {
		e.ImageTicks = imageTicks(e.Process.ExecID)
	}
	return b.AddEvent(e)
}

// body reads the event and reports whether it has a process.
func body(c *scan.Cursor, b *intake.Batch, e *attribution.Event) bool {
	if !c.Object() {
		return false
	}
	found := false
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "process":
			found = c.Object()
			if found {
				process(c, b, e)
			}
		case "parent":
			if c.Object() {
				parent(c, b, e)
			}
		default:
			c.Skip()
		}
	}
	return found
}

func process(c *scan.Cursor, b *intake.Batch, e *attribution.Event) {
	var words [2][]byte
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "exec_id":
			e.Process.ExecID = b.Text(c.Raw())
		case "parent_exec_id":
			e.Parent.ExecID = b.Text(c.Raw())
		case "pid":
			e.Process.PID = c.PID()
		case "binary":
			words[0] = c.Raw()
		case "arguments":
			words[1] = c.Raw()
		case "flags":
			e.FirstImage = hasWord(c.Raw(), "clone")
		case "docker":
			e.ContainerID = longer(e.ContainerID, b.Name(c.Raw()))
		case "pod":
			pod(c, b, e)
		case "auid":
			e.LoginUID = texts.IfSet(c.Uint32())
		case "environment_variables":
			environment(c, b, e)
		default:
			c.Skip()
		}
	}
	if e.Kind == attribution.KindExec {
		e.Command = command(b, words)
	}
}

// userHertz is how many clock ticks a second has in /proc, on every architecture that Kubernetes runs on.
const userHertz = 100

// imageTicks returns when an image began, which its ID tells: the base64 of NODE:NANOSECONDS:PID, by the clock that
// starts at boot and stands still in a suspended machine. It is 0 for another ID.
func imageTicks(execID string) uint64 {
	text, err := base64.StdEncoding.DecodeString(execID)
	if err != nil {
		return 0
	}
	rest, _, _ := cutLast(text)
	_, since, ok := cutLast(rest)
	nano, err := strconv.ParseUint(string(since), 10, 64)
	if !ok || err != nil {
		return 0
	}
	return nano / (1e9 / userHertz)
}

// cutLast cuts text at its last colon.
func cutLast(text []byte) (before, after []byte, ok bool) {
	i := bytes.LastIndexByte(text, ':')
	if i < 0 {
		return text, nil, false
	}
	return text[:i], text[i+1:], true
}

func command(b *intake.Batch, words [2][]byte) string {
	if len(words[1]) == 0 {
		return b.Command(words[0])
	}
	return b.Words(words[:])
}

// hasWord reports whether a list of words, separated by spaces, has one.
func hasWord(list []byte, word string) bool {
	for len(list) > 0 {
		var next []byte
		next, list, _ = bytes.Cut(list, []byte(" "))
		if string(next) == word {
			return true
		}
	}
	return false
}

func longer(a, b string) string {
	if len(a) >= len(b) {
		return a
	}
	return b
}

func pod(c *scan.Cursor, b *intake.Batch, e *attribution.Event) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "namespace":
			e.Namespace = b.Name(c.Raw())
		case "name":
			e.Pod = b.Name(c.Raw())
		case "container":
			container(c, b, e)
		default:
			c.Skip()
		}
	}
}

func container(c *scan.Cursor, b *intake.Batch, e *attribution.Event) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "id":
			e.ContainerID = longer(e.ContainerID, b.Name(bare(c.Raw())))
		case "name":
			e.Container = b.Name(c.Raw())
		default:
			c.Skip()
		}
	}
}

// bare returns a container ID without its scheme; nil for one too short to tell containers apart.
func bare(id []byte) []byte {
	if _, after, ok := bytes.Cut(id, []byte("://")); ok {
		id = after
	}
	if len(id) < texts.ContainerIDBytes {
		return nil
	}
	return id
}

func environment(c *scan.Cursor, b *intake.Batch, e *attribution.Event) {
	if !c.Array() {
		return
	}
	claims := texts.Claims{AuditID: e.AuditID, ExecSession: e.ExecSession}
	for c.Element() {
		if !c.Object() {
			continue
		}
		var name, value []byte
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			switch string(key) {
			case "Key", "key":
				name = c.Raw()
			case "Value", "value":
				value = c.Raw()
			default:
				c.Skip()
			}
		}
		claims.Take(&b.Store, name, value)
	}
	e.AuditID, e.ExecSession = claims.AuditID, claims.ExecSession
}

// parent reads the parent as the event shows it: it may have no event of its own.
func parent(c *scan.Cursor, b *intake.Batch, e *attribution.Event) {
	inside := false
	var id, above string
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "exec_id":
			id = e.Parent.ExecID // as the process itself says
			if raw := c.Raw(); string(raw) != id {
				id = b.Text(raw)
			}
		case "parent_exec_id":
			above = b.Text(c.Raw())
		case "docker":
			inside = len(c.Raw()) > 0 || inside
		case "pod":
			if !c.Null() {
				inside = true
				c.Skip()
			}
		default:
			c.Skip()
		}
	}
	if id != "" {
		e.Parent.ExecID, e.Grandparent.ExecID = id, above
		e.ParentOutside = !inside
	}
}
