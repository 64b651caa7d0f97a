package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// containerLogs answers /containerLogs: a container's log without the runtime's
// prefixes, as kubectl logs asks for it.
func (s *Server) containerLogs(w http.ResponseWriter, r *http.Request) {
	query, err := readable(r)
	if err != nil {
		fail(w, err)
		return
	}
	pod, err := s.pod(r)
	if err != nil {
		fail(w, err)
		return
	}
	o, err := parseLogOptions(query)
	if err != nil {
		fail(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	c, err := s.Pods.Container(r.Context(), pod, r.PathValue("container"), false)
	if err != nil {
		fail(w, err)
		return
	}
	path, err := s.Pods.LogFile(r.Context(), c)
	if err != nil {
		fail(w, err)
		return
	}
	file, err := os.Open(path)
	if err != nil {
		fail(w, errors.New("the container has no log"))
		return
	}
	defer file.Close()
	running := func() bool { return s.running(r.Context(), c.GetId()) }
	_ = o.copy(r.Context(), flusher{w}, file, running)
}

func (s *Server) running(ctx context.Context, id string) bool {
	resp, err := s.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: id})
	return err == nil && resp.GetStatus().GetState() == runtimeapi.ContainerState_CONTAINER_RUNNING
}

// flusher sends each line as it is written, for a client that follows.
type flusher struct{ http.ResponseWriter }

func (f flusher) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	_ = http.NewResponseController(f.ResponseWriter).Flush()
	return n, err
}

// logOptions are the parameters of a log request.
type logOptions struct {
	follow, timestamps bool
	since              time.Time
	tail               int64 // lines from the end, -1 for all
	limit              int64 // bytes, -1 for all
}

func parseLogOptions(query url.Values) (logOptions, error) {
	o := logOptions{tail: -1, limit: -1}
	o.follow = query.Get("follow") == "true"
	o.timestamps = query.Get("timestamps") == "true"
	var errs []error
	number := func(name string, into *int64) {
		if text := query.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 {
				errs = append(errs, errors.New(name+" must be a number that is not negative"))
				return
			}
			*into = n
		}
	}
	number("tailLines", &o.tail)
	number("limitBytes", &o.limit)
	seconds := int64(-1)
	number("sinceSeconds", &seconds)
	if seconds >= 0 {
		o.since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		since, err := time.Parse(time.RFC3339, text)
		if err != nil {
			errs = append(errs, errors.New("sinceTime must be a time as in RFC 3339"))
		}
		o.since = since
	}
	return o, errors.Join(errs...)
}

// followPoll is how often a followed log is looked at for more.
const followPoll = 100 * time.Millisecond

// copy writes the lines of a CRI log that o asks for; with follow until the
// container has ended, the client is gone, or the limit is reached.
func (o logOptions) copy(ctx context.Context, w io.Writer, log io.ReadSeeker, running func() bool) error {
	if err := o.seekTail(log); err != nil {
		return err
	}
	lines := bufio.NewReader(log)
	out := logWriter{logOptions: o, to: w, left: o.limit, fresh: true}
	var line []byte
	for alive := o.follow; ; {
		text, err := lines.ReadBytes('\n')
		line = append(line, text...)
		if err == nil {
			if done, err := out.write(line); done || err != nil {
				return err
			}
			line = line[:0]
			continue
		}
		if err != io.EOF || !alive {
			return nil
		}
		// What was written before the container ended is read once more.
		if alive = running(); !alive {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followPoll):
		}
	}
}

// logWriter writes lines of the log as the client wants them.
type logWriter struct {
	logOptions
	to    io.Writer
	left  int64 // bytes to the limit, -1 for no limit
	fresh bool  // what comes next begins a line
}

// write writes one line of the log; done is true once the limit is reached. A line
// that is none of a CRI log is left out.
func (l *logWriter) write(line []byte) (done bool, err error) {
	stamp, text, ok := splitLine(line)
	if !ok || l.tooOld(stamp) {
		return false, nil
	}
	fresh := l.fresh
	if l.fresh = bytes.HasSuffix(text, []byte("\n")); fresh && l.timestamps {
		text = append(append(bytes.Clone(stamp), ' '), text...)
	}
	if l.left >= 0 {
		if int64(len(text)) >= l.left {
			text, done = text[:l.left], true
		}
		l.left -= int64(len(text))
	}
	_, err = l.to.Write(text)
	return done, err
}

func (o logOptions) tooOld(stamp []byte) bool {
	if o.since.IsZero() {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	return err == nil && at.Before(o.since)
}

// splitLine takes a line of a CRI log apart: time, stream, tags, text. A partial
// line (tag P) loses its newline, because the next one goes on with it.
func splitLine(line []byte) (stamp, text []byte, ok bool) {
	parts := bytes.SplitN(line, []byte(" "), 4)
	if len(parts) != 4 {
		return nil, nil, false
	}
	if text = parts[3]; bytes.HasPrefix(parts[2], []byte("P")) {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	return parts[0], text, true
}

// seekTail moves the log to where its last o.tail lines begin.
func (o logOptions) seekTail(log io.ReadSeeker) error {
	if o.tail < 0 {
		return nil
	}
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil || o.tail == 0 {
		return err
	}
	block := make([]byte, 8<<10)
	newlines := int64(0)
	for at := end; at > 0; {
		n := min(at, int64(len(block)))
		at -= n
		if _, err := log.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.ReadFull(log, block[:n]); err != nil {
			return err
		}
		for i := n - 1; i >= 0; i-- {
			if block[i] != '\n' || at+i == end-1 {
				continue
			}
			if newlines++; newlines == o.tail {
				_, err := log.Seek(at+i+1, io.SeekStart)
				return err
			}
		}
	}
	_, err = log.Seek(0, io.SeekStart)
	return err
}
