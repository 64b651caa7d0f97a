package suite_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

// broken is a runtime that gets as far as its fields say.
type broken struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	runtimeapi.UnimplementedImageServiceServer
	version, status, sweep, pull error
	hangs                        bool
}

var errRefused = status.Error(codes.PermissionDenied, "refused by the test\x1b[2J")

func (b broken) Version(ctx context.Context, _ *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	if b.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &runtimeapi.VersionResponse{RuntimeName: "broken", RuntimeVersion: "1", RuntimeApiVersion: "v1"}, b.version
}

func (b broken) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{}, b.status
}

func (b broken) ListPodSandbox(context.Context, *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	return &runtimeapi.ListPodSandboxResponse{}, b.sweep
}

func (b broken) ListImages(context.Context, *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	return &runtimeapi.ListImagesResponse{}, nil
}

func (b broken) PullImage(context.Context, *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	return &runtimeapi.PullImageResponse{}, b.pull
}

// socket listens on a socket with a short path and returns its endpoint.
func socket(t *testing.T) (net.Listener, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cri")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, "unix://" + path
}

// serve serves CRI, or only gRPC when there is no runtime, until the test ends.
func serve(t *testing.T, runtime *broken) string {
	t.Helper()
	l, endpoint := socket(t)
	s := grpc.NewServer()
	if runtime != nil {
		runtimeapi.RegisterRuntimeServiceServer(s, runtime)
		runtimeapi.RegisterImageServiceServer(s, runtime)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-ended })
	return endpoint
}

// notGRPC serves something else: it closes every connection.
func notGRPC(t *testing.T) string {
	t.Helper()
	l, endpoint := socket(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return endpoint
}

// checkError holds that each format of the report is one of a run that could not start, for the reason.
func checkError(t *testing.T, r suite.Report, reason string) {
	t.Helper()
	if !strings.Contains(r.Error, reason) || r.ExitCode() != suite.ExitTrouble || !strings.Contains(r.Summary(), " 1 errors") {
		t.Errorf("Error = %q, want %q in it; exit code %d, want %d; %s", r.Error, reason, r.ExitCode(), suite.ExitTrouble, r.Summary())
	}
	var text, document, file strings.Builder
	if err := errors.Join(r.WriteText(&text), r.WriteJSON(&document), r.WriteJUnit(&file)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "\nerror ") || !strings.Contains(text.String(), reason) || strings.Contains(text.String(), "\x1b") {
		t.Errorf("text has no error:\n%q", text.String())
	}
	var inJSON struct{ Error string }
	if err := json.Unmarshal([]byte(document.String()), &inJSON); err != nil || inJSON.Error != r.Error {
		t.Errorf("JSON has no error: %v\n%s", err, document.String())
	}
	var inJUnit struct {
		Tests  int `xml:"tests,attr"`
		Errors int `xml:"errors,attr"`
		Cases  []struct {
			Error *struct {
				Message string `xml:"message,attr"`
			} `xml:"error"`
		} `xml:"testcase"`
	}
	err := xml.Unmarshal([]byte(file.String()), &inJUnit)
	if err != nil || inJUnit.Tests != 1 || inJUnit.Errors != 1 || len(inJUnit.Cases) != 1 || inJUnit.Cases[0].Error == nil || !strings.Contains(inJUnit.Cases[0].Error.Message, reason) {
		t.Errorf("JUnit has no error: %v\n%s", err, file.String())
	}
}

func TestRunThatCouldNotStart(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		endpoint     func(t *testing.T) string
		change       func(o *suite.Options)
	}{
		{name: "no socket", reason: "ask the runtime", endpoint: func(t *testing.T) string { return "unix://" + filepath.Join(t.TempDir(), "none") }},
		{name: "not a gRPC server", reason: "ask the runtime", endpoint: notGRPC},
		{name: "not a CRI server", reason: "ask the runtime", endpoint: func(t *testing.T) string { return serve(t, nil) }},
		{name: "the version call is refused", reason: "ask the runtime", endpoint: func(t *testing.T) string { return serve(t, &broken{version: errRefused}) }},
		{name: "the status call is refused", reason: "ask the runtime", endpoint: func(t *testing.T) string { return serve(t, &broken{status: errRefused}) }},
		{
			name: "no answer in time", reason: "ask the runtime", endpoint: func(t *testing.T) string { return serve(t, &broken{hangs: true}) },
			change: func(o *suite.Options) { o.Timeout = 50 * time.Millisecond },
		},
		{name: "leftovers cannot be listed", reason: "remove what a dead run left", endpoint: func(t *testing.T) string { return serve(t, &broken{sweep: errRefused}) }},
		{
			name: "a reporter that is no program", reason: "serve images", endpoint: func(t *testing.T) string { return serve(t, &broken{}) },
			change: func(o *suite.Options) { o.Images, o.Reporter = "", "/nowhere/reporter" },
		},
		{
			name: "a registry that is not there", reason: "serve images", endpoint: func(t *testing.T) string { return serve(t, &broken{}) },
			change: func(o *suite.Options) { o.Images, o.Push, o.Reporter = "", "127.0.0.1:1/x", staticProgram(t) },
		},
		{name: "the pull is refused", reason: "pull images", endpoint: func(t *testing.T) string { return serve(t, &broken{pull: errRefused}) }},
		{name: "a pod cannot be run", reason: "run a pod", endpoint: func(t *testing.T) string { return serve(t, &broken{}) }},
		{name: "an endpoint that is none", reason: "endpoint", endpoint: func(*testing.T) string { return "unix://\x00" }},
		{name: "no endpoint", reason: "no endpoint", endpoint: func(*testing.T) string { return "" }},
		{
			name: "an unknown feature", reason: "unknown feature", endpoint: func(t *testing.T) string { return serve(t, &broken{}) },
			change: func(o *suite.Options) { o.Require = []suite.Feature{"x"} },
		},
	} {
		t.Run("CON-11 a run that could not start is an error in every report format: "+c.name, func(t *testing.T) {
			o := suite.Options{Endpoint: c.endpoint(t), Images: "localhost/x"}
			if c.change != nil {
				c.change(&o)
			}
			report, err := suite.Run(t.Context(), o)
			if err == nil || report.Error != err.Error() || report.Endpoint != o.Endpoint {
				t.Errorf("Run = %+v, %v", report, err)
			}
			checkError(t, report, c.reason)
		})
	}
	t.Run("CON-11 a run that was interrupted before it started", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("interrupted by the test"))
		report, err := suite.Run(ctx, suite.Options{Endpoint: serve(t, &broken{}), Images: "localhost/x"})
		if err == nil {
			t.Error("Run = nil error")
		}
		checkError(t, report, "ask the runtime")
	})
}

func TestRunErrorBesideResults(t *testing.T) {
	r := sample()
	r.Results = r.Results[:1]
	if r.ExitCode() != suite.ExitPassed {
		t.Fatalf("ExitCode = %d before", r.ExitCode())
	}
	r.Error = "interrupted\x1b[2J"
	t.Run("CON-11 an error of the run beside passed cases is not green", func(t *testing.T) {
		if r.ExitCode() != suite.ExitTrouble || r.Summary() != "1 passed, 0 failed, 0 skipped, 0 unsupported, 1 errors" {
			t.Errorf("ExitCode = %d, %s", r.ExitCode(), r.Summary())
		}
	})
	t.Run("CON-11 a failed case stays a failure", func(t *testing.T) {
		failed := sample()
		failed.Error = "interrupted"
		if failed.ExitCode() != suite.ExitFailed {
			t.Errorf("ExitCode = %d, want %d", failed.ExitCode(), suite.ExitFailed)
		}
	})
	t.Run("CON-11 the cases stay in the report", func(t *testing.T) {
		var text, file strings.Builder
		if err := errors.Join(r.WriteText(&text), r.WriteJUnit(&file)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "pass ") || !strings.Contains(text.String(), "\nerror ") || strings.Contains(text.String(), "\x1b") {
			t.Errorf("text:\n%q", text.String())
		}
		if !strings.Contains(file.String(), `tests="2" failures="0" errors="1"`) || strings.Count(file.String(), "<testcase") != 2 {
			t.Errorf("JUnit:\n%s", file.String())
		}
	})
}

func TestNothingTried(t *testing.T) {
	results := func(outcomes ...suite.Outcome) (r suite.Report) {
		for _, o := range outcomes {
			r.Results = append(r.Results, suite.Result{Outcome: o})
		}
		return r
	}
	t.Run("CON-11 a run whose cases were all skipped is an error", func(t *testing.T) {
		for _, r := range []suite.Report{results(), results(suite.OutcomeSkip), results(suite.OutcomeSkip, suite.OutcomeSkip)} {
			if err := r.Tried(); !errors.Is(err, suite.ErrNothingTried) {
				t.Errorf("Tried(%s) = %v, want ErrNothingTried", r.Summary(), err)
			}
		}
	})
	t.Run("CON-4 one case that was tried is enough, whatever came of it", func(t *testing.T) {
		for _, o := range []suite.Outcome{suite.OutcomePass, suite.OutcomeFail, suite.OutcomeUnsupported, suite.OutcomeError} {
			if err := results(suite.OutcomeSkip, o).Tried(); err != nil {
				t.Errorf("Tried with %q = %v", o, err)
			}
		}
	})
	t.Run("CON-11 a report without results and without a reason is an error too", func(t *testing.T) {
		var text, file strings.Builder
		if err := errors.Join(suite.Report{}.WriteText(&text), suite.Report{}.WriteJUnit(&file)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "\nerror ") || !strings.Contains(file.String(), `errors="1"`) {
			t.Errorf("text and JUnit:\n%s\n%s", text.String(), file.String())
		}
	})
}
