package streaming_test

import (
	"fmt"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// BenchmarkHandOver is what a session pays between the CRI's Exec and its process.
func BenchmarkHandOver(b *testing.B) {
	for _, n := range []int{0, 2, 256} {
		req := requestOf(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				packed, err := streaming.Pack(req)
				if err != nil {
					b.Fatal(err)
				}
				if _, environ, err := streaming.Unpack(packed.ContainerId); err != nil || len(environ) != n {
					b.Fatal(len(environ), err)
				}
			}
		})
	}
}

func requestOf(b *testing.B, n int) *runtimeapi.ExecRequest {
	b.Helper()
	envs := make([]envprecedence.Entry, n)
	for i := range envs {
		envs[i] = envprecedence.NewEntry(fmt.Sprintf("NAME_%03d", i), fmt.Sprintf("%0118d", i)) // 32 KiB in all for 256
	}
	req := &runtimeapi.ExecRequest{ContainerId: "8762eafc25a35ab90089f79703b86659989e8e547c2c029fb60f55d884355000", Cmd: []string{"sh"}, Stdout: true}
	if err := criwire.Write(req, envs); err != nil {
		b.Fatal(err)
	}
	return req
}
