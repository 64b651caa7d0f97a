package negotiate_test

import (
	"context"
	"fmt"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

func Example() {
	// A runtime with two handlers injects for the default one alone.
	resp := &runtimeapi.StatusResponse{RuntimeHandlers: []*runtimeapi.RuntimeHandler{{Name: ""}, {Name: "kata"}}}
	negotiate.Announce(resp, func(handler string) bool { return handler == "" })

	policy := negotiate.New(negotiate.Options{RequireSupport: true})
	envs := []envprecedence.Entry{envprecedence.NewEntry(execaudit.AuditIDName, "f4a3b2c1")}
	pod := negotiate.Pod{Namespace: "shop", Name: "web-0"}
	for _, handler := range []string{"", "kata"} {
		supported := negotiate.Supported(resp, handler)
		fmt.Println(supported, policy.Admit(context.Background(), supported, envs, pod))
	}
	// Output:
	// true <nil>
	// false container runtime does not support exec environment variables (ExecRequest.envs) and --require-exec-env-support is set
}
