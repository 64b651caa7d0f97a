package client

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Handshake asks the runtime to begin the session over its version of WebSocket, and ends it: an error says that the
// runtime does not speak it. It is told apart from a session here because a client that is refused may wait long for
// the end of the answer. Over another protocol it does nothing.
func (c *Client) Handshake(ctx context.Context, s Session) error {
	version, ok := subprotocols[s.Protocol]
	if !ok {
		return nil
	}
	resp, err := c.Exec(ctx, &runtimeapi.ExecRequest{ContainerId: s.Container, Cmd: s.Command, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, resp.GetUrl(), nil)
	if err != nil {
		return fmt.Errorf("the runtime's URL for the session: %w", err)
	}
	req.Header = http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {key()}, "Sec-Websocket-Protocol": {version},
	}
	return switches(req)
}

// switches sends the request and looks at the first line of the answer only.
func switches(req *http.Request) error {
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("the runtime answers %s", resp.Status)
	}
	return nil
}

// key is 16 bytes of no meaning, as RFC 6455 asks for.
func key() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}
