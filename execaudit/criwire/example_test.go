package criwire_test

import (
	"fmt"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

func Example() {
	req := &runtimeapi.ExecRequest{ContainerId: "8762eafc25a3", Cmd: []string{"sh"}, Stdin: true}
	err := criwire.Write(req, []envprecedence.Entry{envprecedence.NewEntry(execaudit.AuditIDName, "f4a3b2c1")}) // the kubelet
	fmt.Println(err)
	envs, err := criwire.Read(req) // the runtime
	fmt.Println(envs, envs[0].Value.Reveal(), err)
	// Output:
	// <nil>
	// [KUBERNETES_EXEC_AUDIT_ID=[redacted]] f4a3b2c1 <nil>
}
