package pluginsdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// MaxRequestBytes is the largest request that is read.
const MaxRequestBytes = 1 << 20 // 1 MiB

// The exit codes of a plugin made with this package.
const (
	ExitOK = 0
	// ExitRefused: the handler returned an error, or the context ended before the request was read.
	ExitRefused = 1
	// ExitProtocol: the request is not one of the protocol, or the handler's answer is not.
	ExitProtocol = 2
)

// Handler answers a request. The response's APIVersion may be left empty. An error makes the plugin fail: its text goes
// to standard error, where the kubelet finds it. "No credentials" is an answer without Auth, not an error.
type Handler func(ctx context.Context, request credprovider.Request) (credprovider.Response, error)

// Main serves one request on standard input and output until it is done or a signal to interrupt or terminate arrives,
// and returns the exit code for os.Exit.
func Main(handler Handler) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process, whatever the handler does
	return Serve(ctx, handler, os.Stdin, os.Stdout, os.Stderr)
}

// Serve reads one request from in, calls the handler, writes its answer to out in the version of the request, and
// returns an exit code. Nothing is written to out unless it is a whole answer. What goes wrong is one line on problems;
// should the handler's error hold the token, it is cut out there.
//
// The end of ctx ends the reading of a request at once, and leaves its reader behind; after that it is the handler's.
//
// Any version of the protocol is served; a handler that does not want one returns an error.
func Serve(ctx context.Context, handler Handler, in io.Reader, out, problems io.Writer) int {
	request, err := readUntil(ctx, in)
	switch {
	case err != nil && ctx.Err() != nil:
		return report(problems, ExitRefused, request, err)
	case err != nil:
		return report(problems, ExitProtocol, request, err)
	}
	response, err := handler(ctx, request)
	if err != nil {
		return report(problems, ExitRefused, request, err)
	}
	if response.APIVersion == "" {
		response.APIVersion = request.APIVersion
	}
	if response.APIVersion != request.APIVersion {
		return report(problems, ExitProtocol, request, fmt.Errorf("%w: the answer is in %q, the request in %q", credprovider.ErrVersion, response.APIVersion, request.APIVersion))
	}
	data, err := credprovider.EncodeResponse(response)
	if err == nil {
		_, err = out.Write(data)
	}
	if err != nil {
		return report(problems, ExitProtocol, request, err)
	}
	return ExitOK
}

// errTooLarge is the error of a request over MaxRequestBytes.
var errTooLarge = errors.New("request too large")

// readUntil returns when ctx ends, although a read of standard input cannot be interrupted.
func readUntil(ctx context.Context, in io.Reader) (credprovider.Request, error) {
	done := make(chan struct{})
	var request credprovider.Request
	var err error
	go func() {
		defer close(done)
		request, err = read(in)
	}()
	select {
	case <-done:
		return request, err
	case <-ctx.Done():
		return credprovider.Request{}, context.Cause(ctx)
	}
}

func read(in io.Reader) (credprovider.Request, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxRequestBytes+1))
	switch {
	case err != nil:
		return credprovider.Request{}, err
	case len(data) > MaxRequestBytes:
		return credprovider.Request{}, fmt.Errorf("%w: the limit is %d bytes", errTooLarge, MaxRequestBytes)
	}
	return credprovider.DecodeRequest(data)
}

func report(problems io.Writer, code int, request credprovider.Request, err error) int {
	text := err.Error()
	if token := request.ServiceAccountToken; !token.IsEmpty() {
		text = strings.ReplaceAll(text, token.Reveal(), token.String())
	}
	fmt.Fprintln(problems, text)
	return code
}
