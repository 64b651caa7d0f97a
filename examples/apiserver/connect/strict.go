package connect

import (
	"errors"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/util/httpstream" //lint:ignore SA1019 client-go's Upgrader is written in these types
	clientspdy "k8s.io/client-go/transport/spdy"
)

// errLost is how a session ends whose kubelet went away.
var errLost = errors.New("the connection to the kubelet was lost")

// strictUpgrader makes connections whose error stream cannot end in silence. Every protocol since version 4 ends a
// session with a status, also a successful one; clients of today take a missing one for success.
type strictUpgrader struct {
	clientspdy.Upgrader
}

// NewConnection implements spdy.Upgrader.
func (u strictUpgrader) NewConnection(response *http.Response) (httpstream.Connection, error) {
	conn, err := u.Upgrader.NewConnection(response)
	if err != nil {
		return nil, err
	}
	return strictConnection{conn}, nil
}

type strictConnection struct {
	httpstream.Connection
}

// CreateStream implements httpstream.Connection.
func (c strictConnection) CreateStream(headers http.Header) (httpstream.Stream, error) {
	stream, err := c.Connection.CreateStream(headers)
	if err != nil || headers.Get("streamType") != "error" {
		return stream, err
	}
	return &statusStream{Stream: stream}, nil
}

// statusStream is an error stream. One goroutine reads it.
type statusStream struct {
	httpstream.Stream
	seen bool
}

// Read implements io.Reader: the end of the stream is an error unless something came before.
func (s *statusStream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	s.seen = s.seen || n > 0
	if errors.Is(err, io.EOF) && !s.seen {
		return n, errLost
	}
	return n, err
}
