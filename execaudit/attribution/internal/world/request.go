package world

import (
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// apiserver has a clock of its own.
type apiserver struct {
	offset time.Duration
}

// request is one exec request and what becomes of its audit event.
type request struct {
	number    int
	server    *apiserver
	audit     attribution.Audit
	late      bool
	delivered [4]bool // by stage
}

// receive makes a request of a new number for a container, with an audit ID of the server's choice or of the client's.
func (w *World) receive(c *container, auditID string) *request {
	w.requests++
	r := &request{number: w.requests, server: w.servers[w.random.IntN(len(w.servers))]}
	if auditID == "" {
		auditID = fmt.Sprintf("%08x-%d", w.random.Uint32(), r.number)
	}
	r.audit = attribution.Audit{
		AuditID: auditID, Namespace: namespace, Pod: c.pod.name, Command: []string{"sh"}, UserAgent: AgentOf(r.number),
		User: attribution.User{Name: UserOf(r.number), Groups: []string{"dev"}}, Received: r.server.clock(w),
	}
	if len(c.pod.containers) > 1 || w.chance(1, 2) {
		r.audit.Container = c.name
	}
	if w.chance(1, 3) {
		r.audit.RequestUID = fmt.Sprintf("uid-%d", r.number)
	}
	r.fate(w)
	return r
}

// fate draws what reaches whoever reads the audit log.
func (r *request) fate(w *World) {
	first := w.chance(2, 3)
	r.delivered = [4]bool{first, true, true}
	if w.settings.Lost {
		switch w.random.IntN(12) {
		case 0:
			r.delivered = [4]bool{}
		case 1:
			r.delivered = [4]bool{true}
		case 2:
			r.delivered = [4]bool{false, true}
		case 3:
			r.delivered = [4]bool{first, false, true}
		}
	}
	r.late = w.settings.Late && w.chance(1, 3)
}

// known reports whether a stage arrives in time that says who asked, and as whom.
func (r *request) known() bool {
	return !r.late && (r.delivered[attribution.StageResponseStarted] || r.delivered[attribution.StageResponseComplete])
}

// reach sends the audit event of a stage. The first has neither the impersonated user nor what a webhook wrote down.
func (r *request) reach(w *World, stage attribution.Stage, code int, execSession string) {
	if !r.delivered[stage] {
		return
	}
	a := r.audit
	a.Stage, a.At = stage, r.server.clock(w)
	if stage == attribution.StageRequestReceived {
		a.At, a.RequestUID = a.Received, ""
	} else {
		a.Code, a.ExecSession = code, execSession
		if actor := ActorOf(r.number); actor != a.User.Name {
			a.Impersonated = &attribution.User{Name: actor}
		}
	}
	delay := w.soon()
	if r.late {
		delay = 20*time.Second + time.Duration(w.random.Int64N(int64(12*time.Minute)))
	}
	w.send(Piece{Audit: &a}, delay)
}

func (s *apiserver) clock(w *World) time.Time {
	w.now += time.Microsecond
	return Dawn.Add(w.now + s.offset)
}
