package procwatch

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/procevents"
)

// line is one event as procevents reads it.
type line struct {
	Version       int                  `json:"version"`
	Event         string               `json:"event"`
	Time          time.Time            `json:"time"`
	Node          string               `json:"node"`
	ContainerID   string               `json:"containerID"`
	Process       attribution.Process  `json:"process"`
	Parent        *attribution.Process `json:"parent,omitempty"`
	ParentOutside bool                 `json:"parentOutside,omitempty"`
	FirstImage    bool                 `json:"firstImage,omitempty"`
	SessionID     uint32               `json:"sessionID,omitempty"`
	LoginUID      uint32               `json:"loginUID,omitempty"`
	AuditID       string               `json:"auditID,omitempty"`
	ExecSession   string               `json:"execSession,omitempty"`
	Argv          []string             `json:"argv,omitempty"`
}

func (w *Watcher) line(kind attribution.Kind, p *process, at time.Time) line {
	l := line{
		Version: procevents.Version, Event: kind.String(), Time: at, Node: w.options.Node,
		ContainerID: p.container, Process: w.identity(p.pid, p.ticks),
		SessionID: p.mark.session, LoginUID: p.mark.login,
	}
	if p.parentTicks > 0 {
		parent := w.identity(p.parent, p.parentTicks)
		l.Parent, l.ParentOutside = &parent, p.outside && p.container != p.parentContainer
	}
	return l
}

func (w *Watcher) identity(pid int, ticks uint64) attribution.Process {
	return attribution.Process{PID: pid, StartTicks: ticks, BootID: w.boot}
}
