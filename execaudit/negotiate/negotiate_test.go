package negotiate_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

func status(conditions ...*runtimeapi.RuntimeCondition) *runtimeapi.StatusResponse {
	return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: conditions}}
}

func TestSupported(t *testing.T) {
	ready := &runtimeapi.RuntimeCondition{Type: runtimeapi.RuntimeReady, Status: true}
	cases := []struct {
		name string
		resp *runtimeapi.StatusResponse
		want bool
	}{
		{"no answer", nil, false},
		{"an empty answer", &runtimeapi.StatusResponse{}, false},
		{"an old runtime", status(ready), false},
		{"an old runtime with features", &runtimeapi.StatusResponse{Features: &runtimeapi.RuntimeFeatures{SupplementalGroupsPolicy: true}}, false},
		{"a runtime that says so", status(ready, negotiate.Condition(true)), true},
		{"a runtime that says no", status(ready, negotiate.Condition(false)), false},
		{"one that says both", status(negotiate.Condition(true), negotiate.Condition(false)), false},
		{"another condition's word", status(&runtimeapi.RuntimeCondition{Type: "execenvssupported", Status: true}), false},
		{"a nil condition", status(nil, negotiate.Condition(true)), true},
	}
	for _, c := range cases {
		for _, handler := range []string{"", "kata"} {
			t.Run("EXA-36 every handler is what the runtime is: "+c.name, func(t *testing.T) {
				if got := negotiate.Supported(c.resp, handler); got != c.want {
					t.Errorf("Supported(%q) = %t, want %t", handler, got, c.want)
				}
			})
		}
	}
	t.Run("a condition that is false says why", func(t *testing.T) {
		if c := negotiate.Condition(false); c.GetReason() == "" || c.GetMessage() == "" || c.GetStatus() {
			t.Errorf("Condition(false) = %v", c)
		}
	})
}

// runtimeWith is a runtime that injects for the handlers whose names are in yes, and has those of no too.
func runtimeWith(yes, no []string) *runtimeapi.StatusResponse {
	resp := status(&runtimeapi.RuntimeCondition{Type: runtimeapi.RuntimeReady, Status: true})
	for _, name := range slices.Concat(yes, no) {
		resp.RuntimeHandlers = append(resp.RuntimeHandlers, &runtimeapi.RuntimeHandler{Name: name})
	}
	negotiate.Announce(resp, func(handler string) bool { return slices.Contains(yes, handler) })
	return resp
}

func TestAnnounce(t *testing.T) {
	cases := []struct {
		name       string
		yes, no    []string
		conditions []string // beside RuntimeReady
		unknown    bool     // for a handler that is not listed
	}{
		{"all", []string{"", "runc"}, nil, []string{"ExecEnvsSupported=true"}, true},
		{"none", nil, []string{"", "runc"}, []string{"ExecEnvsSupported=false"}, false},
		{
			"some",
			[]string{"", "runc"},
			[]string{"kata"},
			[]string{"ExecEnvsSupported=false", "ExecEnvsSupported/=true", "ExecEnvsSupported/runc=true", "ExecEnvsSupported/kata=false"},
			false,
		},
		{"all but the default", []string{"runc"}, []string{""}, []string{"ExecEnvsSupported=false", "ExecEnvsSupported/runc=true", "ExecEnvsSupported/=false"}, false},
	}
	for _, c := range cases {
		resp := runtimeWith(c.yes, c.no)
		t.Run("EXA-36 each handler is supported as announced: "+c.name, func(t *testing.T) {
			for _, handler := range slices.Concat(c.yes, c.no) {
				if got := negotiate.Supported(resp, handler); got != slices.Contains(c.yes, handler) {
					t.Errorf("Supported(%q) = %t", handler, got)
				}
			}
			if got := negotiate.Supported(resp, "absent"); got != c.unknown {
				t.Errorf("a handler that is not there: Supported = %t, want %t", got, c.unknown)
			}
		})
		t.Run("EXA-36 one who knows the single condition alone is not told too much: "+c.name, func(t *testing.T) {
			var got []string
			for _, c := range resp.GetStatus().GetConditions()[1:] {
				got = append(got, fmt.Sprintf("%s=%t", c.GetType(), c.GetStatus()))
				if !c.GetStatus() && (c.GetReason() == "" || c.GetMessage() == "") {
					t.Errorf("%s does not say why", c.GetType())
				}
			}
			if !slices.Equal(got, c.conditions) {
				t.Errorf("conditions %q, want %q", got, c.conditions)
			}
		})
	}
	t.Run("EXA-36 a runtime that lists no handlers", func(t *testing.T) {
		for _, does := range []bool{true, false} {
			resp := &runtimeapi.StatusResponse{}
			negotiate.Announce(resp, func(handler string) bool { return does && handler == "" })
			if got := negotiate.Supported(resp, ""); got != does {
				t.Errorf("Supported = %t, want %t", got, does)
			}
		}
	})
	t.Run("EXA-36 what handlers share stays as it is", func(t *testing.T) {
		shared := []*runtimeapi.RuntimeHandler{{Name: "", Features: &runtimeapi.RuntimeHandlerFeatures{UserNamespaces: true}}, nil}
		before := proto.CloneOf(shared[0])
		resp := &runtimeapi.StatusResponse{RuntimeHandlers: shared}
		negotiate.Announce(resp, func(string) bool { return true })
		if len(shared) != 2 || !proto.Equal(shared[0], before) || !resp.RuntimeHandlers[0].GetFeatures().GetUserNamespaces() {
			t.Errorf("handlers %v, of the response %v", shared, resp.RuntimeHandlers)
		}
	})
}

var (
	web   = negotiate.Pod{Namespace: "shop", Name: "web-0", UID: "u1"}
	other = negotiate.Pod{Namespace: "shop", Name: "web-1", UID: "u2"}
	envs  = []envprecedence.Entry{envprecedence.NewEntry(execaudit.AuditIDName, "hunter2")}
)

// record is a Recorder that can be read.
type record struct {
	mu     sync.Mutex
	count  int
	events []string
}

func (r *record) ExecEnvsUnsupported() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
}

func (r *record) Event(_ context.Context, pod negotiate.Pod, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, pod.Name+": "+message)
}

func TestAdmit(t *testing.T) {
	ctx := context.Background()
	cases := []struct {
		name      string
		require   bool
		supported bool
		envs      []envprecedence.Entry
		err       error
		count     int
	}{
		{"warn: no support, with env: counted, proceeds", false, false, envs, nil, 1},
		{"warn: no support, without env", false, false, nil, nil, 0},
		{"warn: support", false, true, envs, nil, 0},
		{"deny: no support, with env: counted, refused", true, false, envs, negotiate.ErrUnsupported, 1},
		{"deny: no support, without env", true, false, nil, nil, 0},
		{"deny: support", true, true, envs, nil, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got record
			policy := negotiate.New(negotiate.Options{RequireSupport: c.require, Recorder: &got})
			if err := policy.Admit(ctx, c.supported, c.envs, web); !errors.Is(err, c.err) {
				t.Errorf("Admit = %v, want %v", err, c.err)
			}
			if got.count != c.count || len(got.events) != c.count {
				t.Errorf("counted %d, events %q, want %d", got.count, got.events, c.count)
			}
			for _, event := range got.events {
				if strings.Contains(event, "hunter2") || !strings.Contains(event, "ExecRequest.envs") {
					t.Errorf("event %q", event)
				}
			}
		})
	}
	t.Run("the refusal says what to look at", func(t *testing.T) {
		if text := negotiate.ErrUnsupported.Error(); !strings.Contains(text, "--require-exec-env-support") || !strings.Contains(text, "runtime") {
			t.Error(text)
		}
	})
	t.Run("nobody to tell", func(t *testing.T) {
		if err := negotiate.New(negotiate.Options{}).Admit(ctx, false, envs, web); err != nil {
			t.Errorf("Admit = %v", err)
		}
	})
}

func TestEventsAreRateLimited(t *testing.T) {
	now := time.Unix(0, 0)
	var got record
	policy := negotiate.New(negotiate.Options{Recorder: &got, Now: func() time.Time { return now }})
	admit := func(pod negotiate.Pod) {
		if err := policy.Admit(context.Background(), false, envs, pod); err != nil {
			t.Fatal(err)
		}
	}
	pods := func() []string {
		var names []string
		for _, event := range got.events {
			name, _, _ := strings.Cut(event, ":")
			names = append(names, name)
		}
		return names
	}
	t.Run("one event a pod and interval, every session counted", func(t *testing.T) {
		admit(web)
		admit(web)
		admit(other)
		now = now.Add(negotiate.DefaultEventInterval - 1)
		admit(web)
		if want := []string{"web-0", "web-1"}; !reflect.DeepEqual(pods(), want) || got.count != 4 {
			t.Errorf("events %q, counted %d, want %q, 4", pods(), got.count, want)
		}
		now = now.Add(1)
		admit(web)
		if want := []string{"web-0", "web-1", "web-0"}; !reflect.DeepEqual(pods(), want) {
			t.Errorf("events %q, want %q", pods(), want)
		}
	})
	t.Run("memory is bounded, and comes back", func(t *testing.T) {
		now = now.Add(time.Hour)
		got = record{}
		for i := range 5000 {
			admit(negotiate.Pod{UID: fmt.Sprint(i)})
		}
		if n := len(got.events); n >= 5000 || n < 500 || got.count != 5000 {
			t.Errorf("%d events, counted %d, want a bounded number and 5000", n, got.count)
		}
		now = now.Add(time.Hour)
		before := len(got.events)
		admit(negotiate.Pod{UID: "new"})
		if len(got.events) != before+1 {
			t.Error("no event after the interval")
		}
	})
}

func TestAdmitConcurrently(t *testing.T) {
	var got record
	policy := negotiate.New(negotiate.Options{Recorder: &got})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _ = policy.Admit(context.Background(), false, envs, web) })
	}
	all.Wait()
	if got.count != 20 || len(got.events) != 1 {
		t.Errorf("counted %d, %d events, want 20 and 1", got.count, len(got.events))
	}
}
