package spool

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
)

// Limits of refusals.
const (
	// MaxRefusals is how many wait at most.
	MaxRefusals = 128
	// MaxReasonBytes is the most of a reason that is kept.
	MaxReasonBytes = 1 << 10 // 1 KiB
)

// Refusal is a session that was not let begin.
type Refusal struct {
	// Session is the ID that the token claims; zero where none could be read. Verified: its signature is good.
	Session  bridge.SessionID
	Verified bool
	// Where is the container that was asked for; what could not be read is empty.
	Where Where
	// Reason names the thing and the rule. It holds nothing of a token and no environment value.
	Reason string
	// Argv is the command that was asked for; each element like a token is replaced by [TokenPlace].
	Argv          []string
	ArgvTruncated bool
	TTY           bool
	// Time is when it was refused, in UTC.
	Time time.Time
}

// TokenPlace stands in a refusal's Argv for what is like a token.
const TokenPlace = "[token]"

// Encode returns the refusal's text, one line of JSON that ParseRefusal takes. Argv and Reason are cut if too long.
func (r Refusal) Encode() []byte {
	argv, cut := bounded(r.Argv)
	var o jsonspan.Object
	o.Uint("version", Version)
	o.String("session", sessionText(r.Session))
	o.Bool("verified", r.Verified)
	r.Where.encode(&o)
	o.String("reason", r.Reason[:min(len(r.Reason), MaxReasonBytes)])
	o.Strings("argv", argv)
	o.Bool("argvTruncated", cut || r.ArgvTruncated)
	o.Bool("tty", r.TTY)
	o.String("time", moment(r.Time))
	return o.Line()
}

// ParseRefusal returns the refusal of a text that Encode returned. Errors are as those of ParseRecord.
func ParseRefusal(text []byte) (Refusal, error) {
	var r Refusal
	d, err := newDecoding(text)
	if err != nil {
		return Refusal{}, err
	}
	r.Session = d.session("session")
	r.Verified = d.bool("verified")
	r.Where = d.where()
	r.Reason = d.string("reason")
	r.Argv = d.strings("argv")
	r.ArgvTruncated = d.bool("argvTruncated")
	r.TTY = d.bool("tty")
	r.Time = d.moment("time")
	if err := d.finish(); err != nil {
		return Refusal{}, err
	}
	return r, nil
}
