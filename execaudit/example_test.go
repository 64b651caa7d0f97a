package execaudit_test

import (
	"fmt"
	"net/url"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func ExampleValidate() {
	envs := []envprecedence.Entry{
		envprecedence.NewEntry("LOG_LEVEL", "debug"),
		envprecedence.NewEntry("2FAST", "x"),
		envprecedence.NewEntry("KUBERNETES_EXEC_AUDIT_ID", "fake"),
		envprecedence.NewEntry("LOG_LEVEL", "info"),
	}
	for _, fault := range execaudit.FaultsOf(execaudit.Validate(envs, execaudit.ReservedList)) {
		fmt.Println(fault.Index, fault.Field, fault.Kind)
	}
	// Output:
	// 1 name Invalid value
	// 2 name Forbidden
	// 3 name Duplicate value
}

func ExampleEncodeQuery() {
	var flag execaudit.EnvFlag
	for _, argument := range []string{"LOG_LEVEL=debug", "GREETING=hello, world"} {
		if err := flag.Set(argument); err != nil {
			fmt.Println(err)
		}
	}
	query, err := execaudit.EncodeQuery(flag.Envs())
	fmt.Println(query, err)
	envs, err := execaudit.DecodeQuery(query, execaudit.Limits{})
	fmt.Println(envs, envs[1].Value.Reveal(), err)
	// Output:
	// env=LOG_LEVEL%3Ddebug&env=GREETING%3Dhello%2C+world <nil>
	// [LOG_LEVEL=[redacted] GREETING=[redacted]] hello, world <nil>
}

func ExampleDecodeQuery_faults() {
	_, err := execaudit.DecodeQuery("env=A%3D1&env=hunter2&env=%3Dhunter2", execaudit.Limits{})
	for _, fault := range execaudit.FaultsOf(err) {
		fmt.Println(fault)
	}
	// Output:
	// env[1]: Invalid value: must be NAME=VALUE
	// env[2].name: Required value
}

func ExampleRedactURL() {
	u := &url.URL{Path: "/exec/shop/web-0/app", RawQuery: "command=sh&env=TOKEN%3Dhunter2"}
	fmt.Println(execaudit.RedactURL(u))
	// Output: /exec/shop/web-0/app?command=sh&env=TOKEN=[redacted]
}

func ExampleGates_Validate() {
	fmt.Println(execaudit.Gates{ExecRequestID: true}.Validate())
	// Output: feature gate ExecRequestID requires feature gate ExecEnvVar: set ExecEnvVar=true or ExecRequestID=false
}
