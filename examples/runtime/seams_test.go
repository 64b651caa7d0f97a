package runtime_test

import (
	"context"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
)

// TestSeams breaks the runtime in each way that a seam offers, and looks at the process.
func TestSeams(t *testing.T) {
	t.Run("CON-6 each seam reaches the process or the client", func(t *testing.T) {
		config := newConfig(t)
		config.Environ = func(container, request []string, _ bool) ([]string, error) { return append(container, request...), nil }
		config.Identify = func(string, string, *runtimeapi.LinuxContainerSecurityContext) (specs.User, error) {
			return specs.User{UID: 7, GID: 8, AdditionalGids: []uint32{9}}, nil
		}
		config.ExecProcess = func(p *specs.Process) { p.User.AdditionalGids = nil }
		config.Interceptor = func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			resp, err := next(ctx, req)
			if st, ok := resp.(*runtimeapi.ContainerStatusResponse); ok {
				st.Status.User = nil
			}
			return resp, err
		}
		c := startSleeper(t, serve(t, config).Node)
		r := reported(t, c, &runtimetest.Session{Cmd: cmd(), Env: []envprecedence.Entry{envprecedence.NewEntry("LATE", "x")}})
		if r.Env[0].Name == "LATE" || r.UID != 7 || r.GID != 8 || len(r.Groups) != 0 {
			t.Errorf("report = %+v, want the environment at the end, 7:8 and no groups", r)
		}
		if got := c.Status(t).GetUser(); got != nil {
			t.Errorf("status.user = %v, want none", got)
		}
	})
}
