package conformance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

// wrongUser tells somebody else in the status than who runs.
func wrongUser(testing.TB, string) map[string]hook {
	return statusHook(func(st *runtimeapi.ContainerStatus) { st.User.Linux.Gid++ })
}

func noUser(testing.TB, string) map[string]hook {
	return statusHook(func(st *runtimeapi.ContainerStatus) { st.User = nil })
}

func statusHook(change func(*runtimeapi.ContainerStatus)) map[string]hook {
	return map[string]hook{"ContainerStatus": changed(&runtimeapi.ContainerStatusRequest{}, nil, &runtimeapi.ContainerStatusResponse{},
		func(r *runtimeapi.ContainerStatusResponse) { change(r.Status) })}
}

// silent reports no features.
func silent(testing.TB, string) map[string]hook {
	return map[string]hook{"Status": changed(&runtimeapi.StatusRequest{}, nil, &runtimeapi.StatusResponse{}, func(r *runtimeapi.StatusResponse) {
		r.Features = nil
		r.Status.Conditions = slices.DeleteFunc(r.Status.Conditions, func(c *runtimeapi.RuntimeCondition) bool { return c.Type == negotiate.ConditionType })
	})}
}

// memory is the environments of all sessions so far.
type memory struct {
	mu   sync.Mutex
	envs []envprecedence.Entry
}

func (m *memory) hook() hook {
	return changed(&runtimeapi.ExecRequest{}, func(r *runtimeapi.ExecRequest) {
		envs, _ := criwire.Read(r)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.envs = append(m.envs, envs...)
	}, &runtimeapi.ExecResponse{}, nil)
}

// leaks are the remembered entries that are made for the cases about leaks.
func (m *memory) leaks() (out []envprecedence.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.envs {
		if strings.HasPrefix(e.Name, "CONF_FOR_") {
			out = append(out, e)
		}
	}
	return out
}

// leaksIntoContainers gives a new container what sessions had in others.
func leaksIntoContainers(testing.TB, string) map[string]hook {
	var m memory
	return map[string]hook{"Exec": m.hook(), "CreateContainer": changed(&runtimeapi.CreateContainerRequest{}, func(r *runtimeapi.CreateContainerRequest) {
		for _, e := range m.leaks() {
			r.Config.Envs = append(r.Config.Envs, &runtimeapi.KeyValue{Key: e.Name, Value: []byte(e.Value.Reveal())})
		}
	}, &runtimeapi.CreateContainerResponse{}, nil)}
}

// leaksIntoExecSync runs ExecSync as a session with what sessions had.
func leaksIntoExecSync(t testing.TB, endpoint string) map[string]hook {
	var m memory
	node := runtimetest.Dial(t, strings.TrimPrefix(endpoint, "unix://"))
	return map[string]hook{"Exec": m.hook(), "ExecSync": func(ctx context.Context, in []byte, _ func([]byte) ([]byte, error)) ([]byte, error) {
		var req runtimeapi.ExecSyncRequest
		if err := proto.Unmarshal(in, &req); err != nil {
			return nil, err
		}
		c := &runtimetest.Container{Pod: &runtimetest.Pod{Node: node}, ID: req.GetContainerId()}
		s := &runtimetest.Session{Cmd: req.GetCmd(), Env: m.leaks()}
		if err := c.Exec(ctx, s); err != nil {
			return nil, err
		}
		return proto.Marshal(&runtimeapi.ExecSyncResponse{Stdout: s.Out.Bytes(), Stderr: s.Err.Bytes(), ExitCode: int32(s.Code)})
	}}
}

// forgetfulRunc is a low-level runtime that starts exec'd processes without the container's groups.
func forgetfulRunc(t testing.TB, runc string) string {
	t.Helper()
	path := filepath.Join(newDir(t), "runc")
	script := fmt.Sprintf(`#!/bin/sh
for argument in "$@"; do
	case "$argument" in */exec-*.json) sed -i 's/"additionalGids":\[[0-9,]*\]/"additionalGids":[]/' "$argument" ;; esac
done
exec %s "$@"
`, runc)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
