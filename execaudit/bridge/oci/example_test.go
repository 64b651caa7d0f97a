package oci_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

func Example() {
	call := oci.ParseCall([]string{"--root", "/run/runc", "exec", "--process", "/tmp/process", "--detach", "c1"})
	fmt.Println(call.Command, call.ID, call.Process)

	p, err := oci.ParseProcess([]byte(`{"args": ["lanyard-exec:1:…", "sh"], "env": ["A=1"], "cwd": "/"}`))
	if err != nil {
		panic(err)
	}
	element, command, err := p.Split()
	fmt.Println(element, command, err)
	fmt.Println(string(p.Rewrite("0e984725-c51c-4bf4-9960-e1c80e27aba0")))
	// Output:
	// exec c1 /tmp/process
	// lanyard-exec:1:… [sh] <nil>
	// {"args": ["sh"], "env": ["LANYARD_EXEC_SESSION=0e984725-c51c-4bf4-9960-e1c80e27aba0","A=1"], "cwd": "/"}
}
