package image

import (
	"context"
	"net"
	"net/http"
	"time"
)

// silence is how long a registry may send nothing before a pull is given up.
const silence = 30 * time.Second

// transport is made for each pull: credentials of one pull must not meet the connections of another.
func transport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &impatientConn{c}, nil
		},
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     time.Second,
		ForceAttemptHTTP2:   true,
	}
}

// impatientConn gives up a read on which nothing comes.
type impatientConn struct{ net.Conn }

func (c *impatientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}
