package streaming_test

import (
	"fmt"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

func Example() {
	req := &runtimeapi.ExecRequest{ContainerId: "8762eafc25a3", Cmd: []string{"sh"}, Stdout: true}
	err := criwire.Write(req, []envprecedence.Entry{envprecedence.NewEntry("LOG_LEVEL", "debug")}) // the kubelet
	fmt.Println(err)

	packed, err := streaming.Pack(req) // the runtime's Exec, for GetExec
	readable, _, _ := strings.Cut(packed.GetContainerId(), ".")
	fmt.Println(readable, err)

	id, environ, err := streaming.Unpack(packed.GetContainerId()) // the streaming backend's Exec
	fmt.Println(id, environ, err)

	_, _, err = streaming.Unpack("8762eafc25a3")
	fmt.Println(err)
	// Output:
	// <nil>
	// 8762eafc25a3+exec-env <nil>
	// 8762eafc25a3 [LOG_LEVEL=debug] <nil>
	// container ID is not packed with an exec environment
}
