package auditlog

import (
	"bytes"
	"net/url"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/intake"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/scan"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// spoAnnotation is the audit annotation in which the Security Profiles Operator leaves its join key.
const spoAnnotation = "execmetadata.spo.io/SPO_EXEC_REQUEST_UID"

// bridgeAnnotation is the audit annotation in which a bridge leaves its session's ID (execaudit/bridge, AuditSession):
// the API server writes the webhook's name, exec.lanyard.dev, and a slash before the key that the webhook answers.
const bridgeAnnotation = "exec.lanyard.dev/session"

var execText = []byte(`"exec"`)

// Decode appends the exec requests of one line, an Event or an EventList, to out.Audits. An Event in the envelope of a
// log shipper is not one. An exec request needs auditID and requestReceivedTimestamp, and a name where somebody is
// impersonated. One whose bridge's annotation is not a session ID cannot be used, as it cannot by the bridge's own reader:
// what the bridge did not write says nothing about who made the request.
//
// Source: audit.k8s.io/v1; v1beta1 has the same fields. Unknown fields are skipped.
func Decode(line []byte, out *attribution.Batch) error {
	b := intake.For(out)
	c := scan.New(line)
	mark := len(b.Audits)
	seen := false
	if mentionsExec(line) {
		seen = decode(&c, b)
	} else {
		seen = skip(&c, b)
	}
	if !c.OK() || !seen {
		b.Audits = b.Audits[:mark]
		return attribution.ErrMalformed
	}
	if len(b.Audits) == mark {
		b.Ignored.OtherRequests++
	}
	return nil
}

// mentionsExec reports whether the line has the text "exec", quotes included. Most lines do not: the rarest of its
// bytes leads to the few places to look at.
func mentionsExec(line []byte) bool {
	const before = 2 // the bytes of execText before its x
	for {
		x := bytes.IndexByte(line, 'x')
		if x < 0 {
			return false
		}
		if x >= before && bytes.HasPrefix(line[x-before:], execText) {
			return true
		}
		line = line[x+1:]
	}
}

// skip goes past an Event or an EventList without an exec request, and reports whether it was one: what says so comes
// early in it.
func skip(c *scan.Cursor, b *intake.Batch) bool {
	if !c.Object() {
		return false
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "auditID":
			seen := len(c.Raw()) > 0
			c.Leave()
			return seen
		case "items":
			seen := items(c, b)
			c.Leave()
			return seen
		default:
			c.Skip()
		}
	}
	return false
}

// decode reads an Event, or the items of an EventList, and reports whether it was one.
func decode(c *scan.Cursor, b *intake.Batch) bool {
	if !c.Object() {
		return false
	}
	var e event
	list, whole := false, true
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		if string(key) == "items" {
			list = true
			whole = items(c, b) && whole
			continue
		}
		e.member(c, b, key)
	}
	if list {
		return whole
	}
	return e.keep(b)
}

// items reports whether each element is an Event that can be used; null is a list of none.
func items(c *scan.Cursor, b *intake.Batch) bool {
	if c.Null() {
		return true
	}
	if !c.Array() {
		return false
	}
	whole := true
	for c.Element() {
		whole = item(c, b) && whole
	}
	return whole
}

func item(c *scan.Cursor, b *intake.Batch) bool {
	if !c.Object() {
		return false
	}
	var e event
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		e.member(c, b, key)
	}
	return e.keep(b)
}

// event is one audit event while it is read.
type event struct {
	audit                 attribution.Audit
	uri                   []byte
	resource, subresource []byte
	strange               bool // it has a bridge's annotation that no bridge wrote
}

func (e *event) member(c *scan.Cursor, b *intake.Batch, key []byte) {
	switch string(key) {
	case "auditID":
		e.audit.AuditID = b.Text(c.Raw())
	case "stage":
		e.audit.Stage = stage(c.Raw())
	case "requestURI":
		e.uri = c.Raw()
	case "user":
		user(c, b, &e.audit.User)
	case "impersonatedUser":
		e.impersonated(c, b)
	case "sourceIPs":
		e.audit.SourceIPs = list(c, b)
	case "userAgent":
		e.audit.UserAgent = b.Name(c.Raw())
	case "objectRef":
		e.object(c, b)
	case "responseStatus":
		e.status(c)
	case "requestReceivedTimestamp":
		e.audit.Received = c.Time()
	case "stageTimestamp":
		e.audit.At = c.Time()
	case "annotations":
		e.annotations(c, b)
	default:
		c.Skip()
	}
}

func stage(raw []byte) attribution.Stage {
	switch string(raw) {
	case "ResponseStarted":
		return attribution.StageResponseStarted
	case "ResponseComplete":
		return attribution.StageResponseComplete
	case "Panic":
		return attribution.StagePanic
	}
	return attribution.StageRequestReceived
}

// impersonated sets nil for null, and a user without a name for a value that is not a user.
func (e *event) impersonated(c *scan.Cursor, b *intake.Batch) {
	e.audit.Impersonated = nil
	if c.Null() {
		return
	}
	e.audit.Impersonated = new(attribution.User)
	user(c, b, e.audit.Impersonated)
}

func user(c *scan.Cursor, b *intake.Batch, u *attribution.User) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "username":
			u.Name = b.Name(c.Raw())
		case "uid":
			u.UID = b.Name(c.Raw())
		case "groups":
			u.Groups = list(c, b)
		case "extra":
			u.Extra = extra(c, b)
		default:
			c.Skip()
		}
	}
}

func extra(c *scan.Cursor, b *intake.Batch) map[string][]string {
	if !c.Object() {
		return nil
	}
	values := map[string][]string{}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		values[b.Name(key)] = list(c, b)
	}
	return values
}

// list reads an array of strings; other elements become empty strings.
func list(c *scan.Cursor, b *intake.Batch) []string {
	var all []string
	if !c.Array() {
		return nil
	}
	for c.Element() {
		all = append(all, b.Name(c.Raw()))
	}
	return all
}

func (e *event) object(c *scan.Cursor, b *intake.Batch) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "resource":
			e.resource = c.Raw()
		case "subresource":
			e.subresource = c.Raw()
		case "namespace":
			e.audit.Namespace = b.Name(c.Raw())
		case "name":
			e.audit.Pod = b.Name(c.Raw())
		default:
			c.Skip()
		}
	}
}

func (e *event) status(c *scan.Cursor) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		if string(key) == "code" {
			e.audit.Code = int(c.Int())
			continue
		}
		c.Skip()
	}
}

func (e *event) annotations(c *scan.Cursor, b *intake.Batch) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		if bytes.IndexByte(key, '\\') >= 0 {
			key = scan.AppendUnescaped(nil, key)
		}
		switch string(key) {
		case spoAnnotation:
			e.audit.RequestUID = b.Text(c.Raw())
		case bridgeAnnotation:
			e.bridged(b.Text(c.Raw()))
		default:
			c.Skip()
		}
	}
}

// bridged takes the value of a bridge's annotation; it is strange when it is not a session ID, or the second one.
func (e *event) bridged(session string) {
	e.strange = e.strange || e.audit.ExecSession != "" || !texts.SessionID(session)
	e.audit.ExecSession = session
}

// keep appends the event when it is an exec request. It reports false for one that cannot be used.
func (e *event) keep(b *intake.Batch) bool {
	if e.audit.AuditID == "" {
		return false
	}
	if string(e.resource) != "pods" || string(e.subresource) != "exec" {
		return true
	}
	if e.strange || e.audit.Received.IsZero() || e.audit.Impersonated != nil && e.audit.Impersonated.Name == "" {
		return false
	}
	if e.audit.At.IsZero() {
		e.audit.At = e.audit.Received
	}
	e.audit.Command, e.audit.Container = request(e.uri)

	b.Audits = append(b.Audits, e.audit)
	return true
}

// request returns what the client asked for in the URI; what does not parse is left out.
func request(raw []byte) (command []string, container string) {
	_, query, _ := bytes.Cut(scan.AppendUnescaped(nil, raw), []byte("?"))
	values, _ := url.ParseQuery(string(query)) // what it could read, it returns
	return bounded(values["command"]), values.Get("container")
}

// bounded cuts a command line at texts.MaxCommandBytes.
func bounded(words []string) []string {
	room := texts.MaxCommandBytes
	for i, word := range words {
		if len(word) > room {
			return append(words[:i:i], word[:room])
		}
		room -= len(word)
	}
	return words
}
