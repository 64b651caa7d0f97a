package oci_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

const tok = "lanyard-exec:1:abc"

func TestRewrite(t *testing.T) {
	for name, c := range map[string]struct{ text, session, want string }{
		"BRG-2 the token goes and the variable comes, all else stays": {
			` {"terminal": true, "user":{"uid":0.5e1}, "args" : [ "lanyard-exec:1:abc" , "sh" ,"-c", "e\u0063ho" ],` + "\n" + `"env":["A=\ud800", "B"] , "env2":null}`, "s",
			` {"terminal": true, "user":{"uid":0.5e1}, "args" : [ "sh" ,"-c", "e\u0063ho" ],` + "\n" + `"env":["LANYARD_EXEC_SESSION=s","A=\ud800", "B"] , "env2":null}`,
		},
		"BRG-1 the container's own variables of that name go, in any spelling": {
			`{"env":["LANYARD_EXEC_SESSION=x","A=1", "LANYARD\u005fEXEC_SESSION=y","LANYARD_EXEC_SESSION"],"args":["lanyard-exec:1:abc","sh"]}`, "s",
			`{"env":["LANYARD_EXEC_SESSION=s","A=1"],"args":["sh"]}`,
		},
		"BRG-1 names that only begin so stay": {
			`{"env":["LANYARD_EXEC_SESSION_=x","lanyard_exec_session=y"],"args":["lanyard-exec:1:abc","sh"]}`, "s",
			`{"env":["LANYARD_EXEC_SESSION=s","LANYARD_EXEC_SESSION_=x","lanyard_exec_session=y"],"args":["sh"]}`,
		},
		"BRG-1 no environment":     {`{"args":["lanyard-exec:1:abc","sh"]}`, "s", `{"env":["LANYARD_EXEC_SESSION=s"],"args":["sh"]}`},
		"BRG-1 a null one":         {`{"args":["lanyard-exec:1:abc","sh"],"env":null}`, "s", `{"args":["sh"],"env":["LANYARD_EXEC_SESSION=s"]}`},
		"BRG-1 an empty one":       {`{"args":["lanyard-exec:1:abc","sh"],"env":[ ]}`, "s", `{"args":["sh"],"env":["LANYARD_EXEC_SESSION=s"]}`},
		"BRG-1 ours alone":         {`{"args":["lanyard-exec:1:abc","sh"],"env":["LANYARD_EXEC_SESSION=1"]}`, "s", `{"args":["sh"],"env":["LANYARD_EXEC_SESSION=s"]}`},
		"BRG-10 no variable":       {`{"args":["lanyard-exec:1:abc","sh"],"env":["A=1"]}`, "", `{"args":["sh"],"env":["A=1"]}`},
		"BRG-10 nor a container's": {`{"args":["lanyard-exec:1:abc","sh"],"env":["A=1","LANYARD_EXEC_SESSION=1"]}`, "", `{"args":["sh"],"env":["A=1"]}`},
		"BRG-10 none at all":       {`{"args":["lanyard-exec:1:abc","sh"]}`, "", `{"args":["sh"]}`},
		"BRG-6 two hundred elements": {
			`{"args":["lanyard-exec:1:abc"` + strings.Repeat(`,"x"`, 200) + `],"env":["A=1"]}`, "s",
			`{"args":["x"` + strings.Repeat(`,"x"`, 199) + `],"env":["LANYARD_EXEC_SESSION=s","A=1"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := oci.ParseProcess([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if element, _, err := p.Split(); element != tok || err != nil {
				t.Errorf("Split = %q, %v", element, err)
			}
			if got := string(p.Rewrite(c.session)); got != c.want {
				t.Errorf("Rewrite =\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func TestParseProcess(t *testing.T) {
	for text, want := range map[string]string{
		`{"args":["a"],"args":["b"]}`:       "bad process file: args is there twice, or in another case",
		`{"args":["a"],"Args":["b"]}`:       "bad process file: args is there twice, or in another case",
		`{"arg\u017f":["lanyard-exec:1:"]}`: "bad process file: args is there twice, or in another case",
		`{"ENV":["a"]}`:                     "bad process file: env is there twice, or in another case",
		`{"args":["a",null]}`:               "bad process file: args has a value of the wrong form",
		`{"args":"a"}`:                      "bad process file: args has a value of the wrong form",
		`{"env":{}}`:                        "bad process file: env has a value of the wrong form",
		`{"terminal":1}`:                    "bad process file: terminal has a value of the wrong form",
		`[]`:                                "bad process file: not a JSON object",
		`{} {}`:                             "bad process file: not valid JSON",
		`{"args":["a"],}`:                   "bad process file: not valid JSON",
		strings.Repeat("[", 1001):           "bad process file: JSON nested deeper than 1000",
	} {
		t.Run("BRG-6 "+want, func(t *testing.T) {
			_, err := oci.ParseProcess([]byte(text))
			if !errors.Is(err, oci.ErrProcess) || err.Error() != want {
				t.Errorf("ParseProcess = %v, want %s", err, want)
			}
		})
	}
	t.Run("BRG-6 invalid UTF-8 is read as runc reads it", func(t *testing.T) {
		p, err := oci.ParseProcess([]byte("{\"args\":[\"a\xff\xfe\",\"\\ud800x\",\"\\ud83d\\ude00\"],\"terminal\":null,\"env\":null}"))
		if err != nil || strings.Join(p.Args, "|") != "a\ufffd\ufffd|\ufffdx|😀" {
			t.Errorf("ParseProcess = %q, %v", p.Args, err)
		}
	})
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		at   int
		want error
	}{
		"BRG-4 a token at the second place":               {`"sh","lanyard-exec:1:abc"`, 1, oci.ErrPlace},
		"BRG-4 a token inside of an element":              {`"sh","-c","echo lanyard-exec:1:abc"`, 2, oci.ErrPlace},
		"BRG-4 a token behind something":                  {`"xlanyard-exec:1:abc","sh"`, 0, oci.ErrPlace},
		"BRG-4 a second token":                            {`"lanyard-exec:1:abc","lanyard-exec:1:abc","sh"`, 1, oci.ErrPlace},
		"BRG-4 a token alone":                             {`"lanyard-exec:1:abc"`, 1, oci.ErrNoCommand},
		"BRG-4 an empty program":                          {`"lanyard-exec:1:abc","","x"`, 1, oci.ErrNoCommand},
		"BRG-6 a NUL byte, which no program can be given": {`"lanyard-exec:1:abc","sh","a\u0000b"`, 2, oci.ErrNUL},
		"BRG-4 a token spelled with escapes":              {`"sh","lanyard\u002dexec\u003a1:abc"`, 1, oci.ErrPlace},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := oci.ParseProcess([]byte(`{"args":[` + c.args + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			var fault *oci.CommandFault
			if _, _, err := p.Split(); !errors.As(err, &fault) || !errors.Is(err, c.want) || fault.Element != c.at || strings.Contains(err.Error(), "abc") {
				t.Errorf("Split = %v, want element %d, %v", err, c.at, c.want)
			}
		})
	}
	for _, text := range []string{`{}`, `{"args":null}`, `{"args":["sh","lanyard-exe:"]}`} {
		t.Run("BRG-5 no token in "+text, func(t *testing.T) {
			p, err := oci.ParseProcess([]byte(text))
			if err != nil || oci.HoldsToken([]byte(text)) {
				t.Fatal(err, oci.HoldsToken([]byte(text)))
			}
			if element, command, err := p.Split(); element != "" || command != nil || err != nil {
				t.Errorf("Split = %q, %q, %v", element, command, err)
			}
		})
	}
	for _, text := range []string{`{"args":["lanyard-exec:`, `lanyard\u002Dex\u0065c:`, `"\u00e9lanyard-exec\u003a`} {
		t.Run("BRG-6 something like a token in "+text, func(t *testing.T) {
			if !oci.HoldsToken([]byte(text)) {
				t.Error("HoldsToken = false")
			}
		})
	}
}

func TestAuditID(t *testing.T) {
	for name, c := range map[string]struct {
		env    string
		bundle []string
		want   string
	}{
		"BRG-10 the runtime's":                          {`"A=1","KUBERNETES_EXEC_AUDIT_ID=x"`, []string{"A=1"}, "x"},
		"BRG-10 not one that the workload's author set": {`"KUBERNETES_EXEC_AUDIT_ID=x"`, []string{"KUBERNETES_EXEC_AUDIT_ID=x"}, ""},
		"BRG-10 the runtime's beside the author's":      {`"KUBERNETES_EXEC_AUDIT_ID=y","KUBERNETES_EXEC_AUDIT_ID=x"`, []string{"KUBERNETES_EXEC_AUDIT_ID=x"}, "y"},
		"BRG-10 an empty one is none":                   {`"KUBERNETES_EXEC_AUDIT_ID="`, nil, ""},
		"BRG-10 none":                                   {`"A=1"`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := oci.ParseProcess([]byte(`{"env":[` + c.env + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.AuditID(c.bundle); got != c.want {
				t.Errorf("AuditID = %q, want %q", got, c.want)
			}
		})
	}
}
