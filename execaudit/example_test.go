package execaudit_test

import (
	"fmt"
	"net/http/httptest"
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

// A conversion function of a runtime.Scheme, from *url.Values to options, gets what net/url made of the query.
func ExampleDecodeValues() {
	type options struct { // PodExecOptions, as KEP-6035 will have them
		Command []string
		Env     []envprecedence.Entry
	}
	convert := func(in *url.Values, out *options) (err error) {
		out.Command = (*in)["command"]
		out.Env, err = execaudit.DecodeValues(*in, execaudit.Limits{})
		return err
	}
	values, _ := url.ParseQuery("command=sh&env=LOG_LEVEL%3Ddebug&env=LIST%3Da%3Db%2C+c")
	var out options
	err := convert(&values, &out)
	fmt.Println(out.Command, out.Env, out.Env[1].Value.Reveal(), err)
	// Output: [sh] [LOG_LEVEL=[redacted] LIST=[redacted]] a=b, c <nil>
}

// What net/url cannot read is left out of its values, silently: whoever reads values refuses such a raw query where it
// still is, in a filter or in the handler that a Connecter returns.
func ExampleDecodeValues_rawQuery() {
	r := httptest.NewRequest("POST", "/api/v1/namespaces/shop/pods/web-0/exec?command=sh&env=A%3D1;x&env=B%3D2", nil)
	envs, err := execaudit.DecodeValues(r.URL.Query(), execaudit.Limits{})
	fmt.Println(envs, err)
	_, err = execaudit.DecodeQuery(r.URL.RawQuery, execaudit.Limits{})
	fmt.Println(err)
	// Output:
	// [B=[redacted]] <nil>
	// env[0]: Invalid value: must not contain an unescaped semicolon
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
