package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	clientremote "k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// The channels of a WebSocket session.
const (
	stdinChannel = iota
	stdoutChannel
	stderrChannel
	errorChannel
	resizeChannel
)

// writeStatusTimeout is how long the last message to a client may take.
const writeStatusTimeout = 5 * time.Second

// serveWebSocket serves a client that speaks version 5 of the channel protocol, which adds the closing of one stream.
func (s session) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{
		remotecommand.StreamProtocolV5Name: {Binary: true, Channels: s.streams.channels()},
	})
	conn.SetIdleTimeout(idleTimeout)
	_, streams, err := conn.Open(w, r)
	if err != nil {
		return // the client was told by Open
	}
	defer conn.Close()
	if _, err := streams[s.streams.first()].Write(nil); err != nil {
		return // the client is gone
	}
	err = s.run(r.Context(), streams[stdinChannel], streams[stdoutChannel], streams[stderrChannel], sizes(streams[resizeChannel]))
	conn.SetWriteDeadline(writeStatusTimeout)
	status, _ := json.Marshal(sessionStatus(err)) // a Status has only fields that can be encoded
	_, _ = streams[errorChannel].Write(status)    // when the client is gone there is nobody to tell
}

// channels says in which direction each channel goes.
func (s streams) channels() []wsstream.ChannelType {
	channels := []wsstream.ChannelType{
		errorChannel:  wsstream.WriteChannel,
		resizeChannel: wsstream.ReadChannel,
	}
	for channel, wanted := range map[int]bool{stdoutChannel: s.stdout, stderrChannel: s.stderr} {
		if channels[channel] = wsstream.IgnoreChannel; wanted {
			channels[channel] = wsstream.WriteChannel
		}
	}
	if channels[stdinChannel] = wsstream.IgnoreChannel; s.stdin {
		channels[stdinChannel] = wsstream.ReadChannel
	}
	return channels
}

// first is the channel on which an empty message tells the client that the session is open.
func (s streams) first() int {
	switch {
	case s.stdout:
		return stdoutChannel
	case s.stderr:
		return stderrChannel
	default:
		return errorChannel
	}
}

// sizes reads the terminal's sizes until the client is gone.
func sizes(r io.Reader) clientremote.TerminalSizeQueue {
	decoder := json.NewDecoder(r)
	return queue(func() (uint16, uint16, bool) {
		var size clientremote.TerminalSize
		err := decoder.Decode(&size)
		return size.Width, size.Height, err == nil
	})
}

// sessionStatus says how a session ended.
func sessionStatus(err error) metav1.Status {
	if err == nil {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	if known, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return known.ErrStatus
	}
	if exit, ok := errors.AsType[exec.CodeExitError](err); ok {
		return exitStatus(exit)
	}
	return apierrors.NewInternalError(err).ErrStatus
}

// exitStatus is the form in which an exit code travels.
func exitStatus(exit exec.CodeExitError) metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure,
		Reason: remotecommand.NonZeroExitCodeReason,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			{Type: remotecommand.ExitCodeCauseType, Message: fmt.Sprint(exit.ExitStatus())},
		}},
		Message: fmt.Sprintf("command terminated with non-zero exit code: %v", exit),
	}
}
