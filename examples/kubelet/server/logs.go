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
	pod, err := s.pod(r)
	if err != nil {
		fail(w, err)
		return
	}
	o, err := parseLogOptions(r.URL.Query())
	if err != nil {
		fail(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	c, err := s.Pods.Container(r.Context(), pod, r.PathValue("container"), false)
	if err != nil {
		fail(w, err)
		return
	}
	path, err := s.Pods.LogFile(r.Context(), pod, c)
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
	var part []byte
	left := o.limit
	for {
		alive := o.follow && running()
		text, err := lines.ReadBytes('\n')
		part = append(part, text...)
		if err == nil {
			if done, err := o.write(w, part, &left); done || err != nil {
				return err
			}
			part = part[:0]
			continue
		}
		if err != io.EOF || !alive {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followPoll):
		}
	}
}

// write writes one line of the log; done is true once the limit is reached.
func (o logOptions) write(w io.Writer, line []byte, left *int64) (done bool, err error) {
	stamp, text, ok := splitLine(line)
	if !ok {
		return false, nil
	}
	if !o.since.IsZero() {
		if at, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil && at.Before(o.since) {
			return false, nil
		}
	}
	if o.timestamps {
		text = append(append(bytes.Clone(stamp), ' '), text...)
	}
	if *left >= 0 && int64(len(text)) >= *left {
		text, done = text[:*left], true
	}
	if *left >= 0 {
		*left -= int64(len(text))
	}
	_, err = w.Write(text)
	return done, err
}

// splitLine takes a line of a CRI log apart: time, stream, tag, text. A partial
// line (tag P) loses its newline, because the next one goes on with it.
func splitLine(line []byte) (stamp, text []byte, ok bool) {
	parts := bytes.SplitN(line, []byte(" "), 4)
	if len(parts) != 4 {
		return nil, nil, false
	}
	if text = parts[3]; parts[2][0] == 'P' {
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
