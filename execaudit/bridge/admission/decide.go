package admission

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

// VerifyWebhook is the name of the validating webhook, and so the prefix of what [Verify] adds to audit events.
const VerifyWebhook = "verify." + bridge.Webhook

// Input is what a decision is made from.
type Input struct {
	Request Request
	Known   Known
	// Session and Nonce are fresh ones, which a new session gets.
	Session bridge.SessionID
	Nonce   [16]byte
	Now     time.Time
}

// Decide answers for the mutating webhook.
//
// Every session has an ID, an annotation and a record, also one that goes on without a token. A request that is none of
// the sources is allowed and nothing is said of it.
func Decide(in Input, policy Policy, signer Signer) Decision {
	switch in.Request.Source {
	case sessions.SourceExec:
		return exec{in, policy, signer, in.find()}.decide()
	case sessions.SourceAttach, sessions.SourcePortForward:
		d := Decision{Allowed: true, Outcome: bridge.OutcomeRecorded, Session: in.Session, Record: true, Target: in.find().forRecord()}
		if in.Request.Source == sessions.SourcePortForward {
			d.Target.Container = "" // a port is the pod's
		}
		return d
	case sessions.SourceEphemeralContainer:
		return in.ephemeral(signer)
	default:
		return Decision{Allowed: true}
	}
}

// Verify answers for the validating webhook, which sees the command that will be executed. It has no session of its
// own: its annotations are the outcome alone, and only what it refuses is to be recorded.
func Verify(in Input, policy Policy, signer Signer) Decision {
	if in.Request.Source != sessions.SourceExec {
		return Decision{Allowed: true}
	}
	return exec{in, policy, signer, in.find()}.verify()
}
