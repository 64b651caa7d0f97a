package envprecedence_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// A runtime prepares a container's environment once and merges each exec's entries with it.
func Example() {
	base, dropped := envprecedence.Prepare([]string{"PATH=/bin", "LOG_LEVEL=info", "broken"}, envprecedence.PlatformLinux)
	fmt.Println(dropped)

	request, err := envprecedence.Environ([]envprecedence.Entry{
		envprecedence.NewEntry("KUBERNETES_EXEC_AUDIT_ID", "f4a3c1"),
		envprecedence.NewEntry("LOG_LEVEL", "debug"),
	}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	env, err := base.Merge(nil, request)
	fmt.Println(env, err)
	// Output:
	// [container entry 2: no "=" between name and value]
	// [KUBERNETES_EXEC_AUDIT_ID=f4a3c1 LOG_LEVEL=debug PATH=/bin] <nil>
}

func ExampleMerge() {
	env, _, err := envprecedence.Merge(envprecedence.Tiers{
		APIServer: []string{"KUBERNETES_EXEC_AUDIT_ID=f4a3c1"},
		Caller:    []string{"KUBERNETES_EXEC_AUDIT_ID=forged", "GREETING=$HOME"},
		Container: []string{"GREETING=hello", "PATH=/bin"},
	}, envprecedence.PlatformLinux)
	fmt.Println(env, err)
	// Output: [KUBERNETES_EXEC_AUDIT_ID=f4a3c1 GREETING=$HOME PATH=/bin] <nil>
}

func ExampleEnviron() {
	_, err := envprecedence.Environ([]envprecedence.Entry{envprecedence.NewEntry("A=B", "c"), envprecedence.NewEntry("TOKEN", "s3cret\x00")}, 0)
	fmt.Println(err)
	// Output:
	// entry 0 "A=B": name holds "="
	// entry 1 "TOKEN": holds a NUL byte
}

func ExampleExplain() {
	for _, e := range envprecedence.Explain(envprecedence.Tiers{
		Caller:    []string{"LOG_LEVEL=debug"},
		Container: []string{"LOG_LEVEL=info", "PATH=/bin"},
	}, envprecedence.PlatformLinux) {
		fmt.Println(e)
	}
	// Output:
	// "LOG_LEVEL": caller entry 0, over container entry 0
	// "PATH": container entry 1
}
