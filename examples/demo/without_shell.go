package demo

import (
	"context"
	"encoding/json"

	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// withoutShell sends an environment into an image that could not set one.
func withoutShell() Scene {
	return Scene{
		Title:  "An environment for one session, in an image with no shell and no env",
		Proves: "the runtime sets the environment, so nothing in the image is needed; the caller's values beat the container's, never the audit ID's.",
		Play: func(ctx context.Context, s *Stage) error {
			s.say("The container was started with LOG_LEVEL=info.")
			got, err := s.kubectl(ctx, "alice", "exec-env", "--env", "LOG_LEVEL=debug", "web", "--", testimage.Program)
			if err != nil {
				return err
			}
			var said report.Report
			if err := json.Unmarshal([]byte(got.out), &said); err != nil {
				return s.check(false, "the session reports (it said %q)", got.err)
			}
			s.say("process sees    LOG_LEVEL=%s", env(said, "LOG_LEVEL"))
			if err := s.check(env(said, "LOG_LEVEL") == "debug", "this session has LOG_LEVEL=debug"); err != nil {
				return err
			}
			if err := s.check(env(said, execaudit.AuditIDName) != "", "and an audit ID besides"); err != nil {
				return err
			}
			next, err := s.kubectl(ctx, "alice", "exec", "web", "--", testimage.Program)
			if err != nil {
				return err
			}
			var after report.Report
			if err := json.Unmarshal([]byte(next.out), &after); err != nil {
				return err
			}
			return s.check(env(after, "LOG_LEVEL") == "info", "the next session has LOG_LEVEL=info again")
		},
	}
}
