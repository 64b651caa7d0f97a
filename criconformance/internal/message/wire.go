package message

import (
	"encoding/json"
	"io"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/redact"
)

// wireMessage is a [Message] as it is sent: one line of JSON.
type wireMessage struct {
	Self  wireProcess `json:"self"`
	First wireProcess `json:"first"`
}

type wireProcess struct {
	Env      []wireVariable `json:"env"`
	EnvError string         `json:"envError,omitempty"`
	UID      int64          `json:"uid"`
	GID      int64          `json:"gid"`
	Groups   []int64        `json:"groups"`
	CapEff   string         `json:"capEff"`
}

// wireVariable has bytes for a value, because an environment need not be UTF-8. Names need not be either, but the
// suite's are.
type wireVariable struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// Write writes the message with its values.
func Write(w io.Writer, m Message) error {
	return json.NewEncoder(w).Encode(wireMessage{Self: wireForm(m.Self), First: wireForm(m.First)})
}

func wireForm(p Process) wireProcess {
	w := wireProcess{EnvError: p.EnvError, UID: p.UID, GID: p.GID, Groups: p.Groups, CapEff: p.CapEff}
	for _, e := range p.Env {
		w.Env = append(w.Env, wireVariable{e.Name, []byte(e.Value.Reveal())})
	}
	return w
}

func (w wireProcess) process() Process {
	p := Process{EnvError: w.EnvError, UID: w.UID, GID: w.GID, Groups: w.Groups, CapEff: w.CapEff}
	hide := redact.Block(len(w.Env))
	for _, v := range w.Env {
		p.Env = append(p.Env, envprecedence.Entry{Name: v.Name, Value: hide(string(v.Value))})
	}
	return p
}
