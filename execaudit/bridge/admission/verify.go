package admission

import (
	"cmp"
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// verify answers for the validating webhook.
func (e exec) verify() Decision {
	d := Decision{Allowed: true, Target: e.forRecord(), Command: e.Request.Command}
	refused := func(reason, message string) Decision {
		d.Record = true
		if d.Session == (bridge.SessionID{}) {
			d.Session = e.Session
		}
		return d.refused(reason, message)
	}
	places := tokens(e.Request.Command)
	if len(places) == 0 {
		reason, refusal := e.unsigned()
		if refusal {
			return refused(reason, "the command has no token: "+reason)
		}
		if reason != "" {
			d.Outcome, d.Reason = bridge.OutcomeUnmarked, reason
		}
		return d
	}
	t, _, err := e.own(places)
	if err != nil {
		return refused(err.Error(), "the command is refused: "+err.Error())
	}
	d.Session = t.Session
	at := places[0]
	d.Command = append(append([]string{}, e.Request.Command[:at]...), e.Request.Command[at+1:]...)
	switch {
	case at != 0:
		return refused("another webhook put something before the token", fmt.Sprintf(
			"another webhook put %d element(s) before the session's token: the configuration of %s must sort after that of every other webhook for pods/exec, with reinvocationPolicy IfNeeded",
			at, bridge.Webhook))
	case token.Digest(d.Command, e.Request.TTY) != t.Command:
		return refused("another webhook changed the command after it was signed", fmt.Sprintf(
			"another webhook changed the command after it was signed: the configuration of %s must sort after that of every other webhook for pods/exec, with reinvocationPolicy IfNeeded",
			bridge.Webhook))
	}
	d.Session = bridge.SessionID{} // which the mutating webhook's annotation tells
	return d
}

// unsigned says why a command has no token, the mutating webhook could sign none or was not asked, and whether that is
// refused. It is empty where the API server refuses the request itself.
func (e exec) unsigned() (reason string, refused bool) {
	_, reason, passing := e.signer()
	if passing {
		return "", false
	}
	return cmp.Or(reason, "the mutating webhook was not asked"), e.policy.Unready == ChoiceRefuse
}
