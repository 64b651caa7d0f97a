package kubelet_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/kubelet"
)

func ExampleExec_Read() {
	exec := kubelet.Exec{
		Gates: execaudit.Gates{ExecEnvVar: true},
		Trust: kubelet.Trust{Names: []string{"kube-apiserver-kubelet-client"}},
	}
	query := "command=sh&env=LOG_LEVEL%3Ddebug&env=KUBERNETES_EXEC_AUDIT_ID%3Df4a3b2c1"
	envs, err := exec.Read(query, kubelet.Identity{Name: "kube-apiserver-kubelet-client"})
	fmt.Println(kubelet.Resolve(nil, envs, exec.Reserved), err)
	_, err = exec.Read(query, kubelet.Identity{Name: "mallory"})
	fmt.Println(err)
	// Output:
	// [KUBERNETES_EXEC_AUDIT_ID=[redacted] LOG_LEVEL=[redacted]] <nil>
	// env[1].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server
}
