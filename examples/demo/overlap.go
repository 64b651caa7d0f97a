package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// overlapping has two people in one container at the same time.
func overlapping() Scene {
	return Scene{
		Title:  "Alice and Bob are in the same pod at the same time",
		Proves: "each process carries the audit ID of the exec session that it belongs to, and the audit log knows whose that is.",
		Play: func(ctx context.Context, s *Stage) error {
			var sessions []*session
			for _, user := range []string{"alice", "bob"} {
				one, err := s.open(ctx, user, "web", "hold")
				if err != nil {
					return err
				}
				defer one.end()
				sessions = append(sessions, one)
			}
			s.pause()
			s.say("Both sessions are open now. What the processes see, and whose it is:")
			seen := map[string]bool{}
			for _, one := range sessions {
				event, err := auditOf(s.Stack.AuditLog(), one.id)
				if err != nil {
					return err
				}
				s.pause()
				s.say("process %-6d  %s=%s", one.said.Pid, execaudit.AuditIDName, one.id)
				s.say("audit event     auditID=%s user=%s verb=%s %s/%s", event.AuditID, event.User.Username, event.Verb, event.ObjectRef.Name, event.ObjectRef.Subresource)
				if err := s.check(event.User.Username == one.user, "the audit event with the ID in %s's process names %s", one.user, one.user); err != nil {
					return err
				}
				seen[one.id] = true
			}
			return s.check(len(seen) == 2, "the two sessions have different IDs")
		},
	}
}

// session is an exec session of the reporter that has reported and still runs.
type session struct {
	user string
	id   string
	said report.Report
	out  *bufio.Reader
	end  func()
}

// next waits for another process's report.
func (s *session) next() (r report.Report, err error) {
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(line, &r)
}

// open starts a session of the reporter that lasts until its input is ended, and waits for its report.
func (s *Stage) open(ctx context.Context, user, pod string, words ...string) (*session, error) {
	cmd, err := s.command(ctx, user, append([]string{"exec", "-i", pod, "--", testimage.Program}, words...)...)
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	one := &session{user: user, out: bufio.NewReader(out)}
	one.end = func() { _ = in.Close(); _, _ = io.Copy(io.Discard, one.out); _ = cmd.Wait() }
	if one.said, err = one.next(); err != nil {
		one.end()
		return nil, fmt.Errorf("%s's session did not report: %w: %s", user, err, said.String())
	}
	one.id = env(one.said, execaudit.AuditIDName)
	return one, nil
}

// env returns the value of a variable in a report, "" where it is not set.
func env(r report.Report, name string) string {
	for _, e := range r.Env {
		if e.Name == name {
			return string(e.Value)
		}
	}
	return ""
}
