package demo

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

// olderRuntime runs the same on containerd, which does not know the field yet.
func olderRuntime() Scene {
	return Scene{
		Title:  "The same on containerd, which cannot pass the environment on yet",
		Proves: "a runtime that is too old breaks nothing, and the loss is said aloud: an event on the pod, a counter on the kubelet.",
		Play: func(ctx context.Context, s *Stage) error {
			got, err := s.kubectl(ctx, "alice", "exec", "web-containerd", "--", testimage.Program)
			if err != nil {
				return err
			}
			var said report.Report
			if err := json.Unmarshal([]byte(got.out), &said); err != nil {
				return s.check(false, "the session works (it said %q)", got.err)
			}
			if err := s.check(env(said, execaudit.AuditIDName) == "", "the session works, without an audit ID"); err != nil {
				return err
			}
			events, err := s.await(ctx, "alice", negotiate.EventReason, "get", "events", "--field-selector", "involvedObject.name=web-containerd")
			if err != nil {
				return err
			}
			if err := s.check(strings.Contains(events, negotiate.EventReason), "the kubelet says so in an event on the pod"); err != nil {
				return err
			}
			metrics, err := s.kubectl(ctx, "admin", "get", "--raw", "/api/v1/nodes/"+s.Stack.NodeOf("web-containerd")+"/proxy/metrics")
			if err != nil {
				return err
			}
			return s.check(strings.Contains(metrics.out, negotiate.UnsupportedMetric+" 1"), "and counts it in %s", negotiate.UnsupportedMetric)
		},
	}
}
