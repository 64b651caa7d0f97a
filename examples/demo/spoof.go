package demo

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// spoofed has Mallory claim somebody else's session, by the front door and by the side.
func spoofed() Scene {
	return Scene{
		Title:  "Mallory claims to be somebody else's session",
		Proves: "nobody can bring an audit ID along: not through kubectl exec, and not around it through the node proxy.",
		Play: func(ctx context.Context, s *Stage) error {
			spoof := execaudit.AuditIDName + "=11111111-2222-3333-4444-555555555555"
			got, err := s.kubectl(ctx, "mallory", "exec-env", "--env", spoof, "web", "--", testimage.Program)
			if err != nil {
				return err
			}
			s.quote(got.err)
			if err := s.check(got.code != 0 && strings.Contains(got.err, "reserved by the API server"), "kubectl exec with a forged ID is refused, and told why"); err != nil {
				return err
			}
			s.pause()
			s.say("Mallory may also use nodes/proxy, which reaches the kubelet without pods/exec:")
			return s.spoofThroughNode(ctx, spoof)
		},
	}
}

// spoofThroughNode asks the kubelet's own exec endpoint through the API server.
func (s *Stage) spoofThroughNode(ctx context.Context, spoof string) error {
	config, err := stack.Config(s.Users["mallory"])
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	path := "/api/v1/nodes/" + s.Stack.NodeOf("web") + "/proxy/exec/default/web/app"
	query := url.Values{"command": {testimage.Program}, "output": {"1"}, "env": {spoof}}
	s.say("mallory$ curl -X POST '%s?command=%s&output=1&env=...'", path, testimage.Program)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, config.Host+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return err
	}
	s.say("> HTTP %s", resp.Status)
	refused := resp.StatusCode == http.StatusUnprocessableEntity && strings.Contains(string(body), "reserved")
	return s.check(refused, "the API server refuses the forged ID on this path too")
}

// quote shows what a command said, line by line.
func (s *Stage) quote(text string) {
	for line := range strings.Lines(text) {
		s.say("> %s", strings.TrimRight(line, "\n"))
	}
}
