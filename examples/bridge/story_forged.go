package bridge

import (
	"context"
	"errors"
	"net/http"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// forged has Mallory make a token.
func forged() scene {
	return scene{"Mallory makes a token", func(ctx context.Context, s *story) error {
		command := []string{"/reporter"}
		own, err := token.NewKey().Sign(NewToken(s.pod, command...))
		if err != nil {
			return err
		}
		s.show("mallory$ kubectl exec web -- %.24s... /reporter", own)
		got, err := s.mallory.Kubectl(ctx, "exec", s.pod.Name, "--", own, "/reporter")
		if err != nil {
			return err
		}
		s.quote(got.Stderr)
		if err := s.check(got.Code != 0 && strings.Contains(got.Stderr, "denied the request"), "the webhook refuses a command that looks like a token"); err != nil {
			return err
		}
		s.show("")
		return s.refusedOnNode(ctx, "its signature is of no key that the node knows", append([]string{own}, command...))
	}}
}

// replayed has Mallory use Alice's token, from an audit log that holds more than it should.
func replayed() scene {
	return scene{"Mallory reads Alice's token in the audit log, which has level Request here, and uses it again", func(ctx context.Context, s *story) error {
		events, err := s.AwaitAudit(ctx, func(e *auditv1.Event) bool { return e.User.Username == "alice" && len(Leaked([]auditv1.Event{*e})) > 0 })
		if err != nil {
			return err
		}
		stolen := Leaked(events)[0][0]
		return s.refusedOnNode(ctx, "a token is good once", []string{stolen, "/reporter", "descend", "child", "session", "daemon", "sibling"})
	}}
}

// refusedOnNode has Mallory run a command by the node, and expects that the wrapper refuses and records it.
func (s *story) refusedOnNode(ctx context.Context, why string, command []string) error {
	before, err := s.Refusals(ctx)
	if err != nil {
		return err
	}
	s.show("mallory$ curl -X POST .../nodes/%s/proxy/run/default/web/app?cmd=%.24s...+/reporter...", s.pod.Spec.NodeName, command[0])
	status, said, err := s.RunByNode(ctx, s.mallory, s.pod, command...)
	if err != nil {
		return err
	}
	s.show("> HTTP %d", status)
	s.quote("..." + said[max(0, strings.Index(said, "OCI runtime")):])
	after, err := s.Refusals(ctx)
	if err != nil {
		return err
	}
	if err := s.check(status != http.StatusOK && len(after) == len(before)+1, "nothing starts: %s", why); err != nil {
		return err
	}
	last := after[len(after)-1]
	return s.check(last.Kind == journal.KindRefusal && last.Pod == s.pod.Name, "the node's journal has it: refused in %s, %s", last.Pod, last.Reason)
}

// quote shows what a program said, line by line, cut to the width of a page.
func (s *story) quote(text string) {
	for line := range strings.Lines(text) {
		s.show("> %.160s", strings.TrimRight(line, "\n"))
	}
}

// verdicts ends the sessions and sums up.
func verdicts() scene {
	return scene{"What is known in the end, by `lanyard-bridge sessions` and the node's sealed journal", func(ctx context.Context, s *story) error {
		s.show("Somebody takes the webhook's key, signs a token in no one's name and brings it to the node's runtime:")
		tok := NewToken(s.pod, "/reporter")
		text, err := s.Key().Sign(tok)
		if err != nil {
			return err
		}
		status, said, err := s.RunByNode(ctx, s.mallory, s.pod, text, "/reporter")
		if err != nil {
			return err
		}
		if err := s.check(status == http.StatusOK, "it runs, since the key is good: HTTP %d%s", status, map[bool]string{false: ": " + said}[status == http.StatusOK]); err != nil {
			return err
		}
		s.show("")
		people := map[string]bridge.SessionID{"": tok.Session}
		for _, name := range []string{"alice", "bob"} {
			session := s.sessions[name]
			delete(s.sessions, name)
			id, err := bridge.ParseSessionID(session.ID)
			if err := errors.Join(err, session.End()); err != nil {
				return err
			}
			people[name] = id
		}
		who, err := s.Who(ctx)
		if err != nil {
			return err
		}
		table, err := s.Sessions(ctx)
		if err != nil {
			return err
		}
		s.quote(table)
		s.show("")
		return errors.Join(
			s.known(who, "alice", people["alice"], sessions.VerdictCorroborated),
			s.known(who, "bob", people["bob"], sessions.VerdictCorroborated),
			s.known(who, "", tok.Session, sessions.VerdictForged),
			s.sealed(),
		)
	}}
}

// known checks what is known of a session.
func (s *story) known(who *Who, user string, id bridge.SessionID, want sessions.Verdict) error {
	known, _ := who.Session(id)
	return s.check(known.Verdict == want && known.User.Name == user, "session %s, user %q, is %s: %s", id, known.User.Name, known.Verdict, known.Why)
}

// sealed checks the node's journal.
func (s *story) sealed() error {
	seals, err := s.VerifyJournal()
	if err != nil {
		return err
	}
	return s.check(seals > 0, "the node's journal is whole, with %d seal(s) by a key that the node does not have any more", seals)
}
