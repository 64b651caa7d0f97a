package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent/internal/board"
)

// DefaultSocket is where the agent listens.
const DefaultSocket = "/run/execaudit-agent/agent.sock"

const (
	pathStatus   = "/status"
	pathSnapshot = "/snapshot"

	maxAnswerBytes = 64 << 20 // 64 MiB
	timeout        = 10 * time.Second
)

// Client asks the agent at a socket.
type Client struct{ http http.Client }

// NewClient returns a client for the socket.
func NewClient(socket string) *Client {
	return &Client{http.Client{Timeout: timeout, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}}
}

// Close ends its connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status returns what the agent says of itself.
func (c *Client) Status(ctx context.Context) (s board.Status, err error) {
	return s, c.get(ctx, pathStatus, &s)
}

// Snapshot returns the node as the agent sees it now.
func (c *Client) Snapshot(ctx context.Context) (s board.Snapshot, err error) {
	return s, c.get(ctx, pathSnapshot, &s)
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://agent"+path, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("the agent does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the agent answers %s", response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswerBytes)).Decode(into); err != nil {
		return fmt.Errorf("the agent's answer: %w", err)
	}
	return nil
}
