package execaudit_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit"
)

func FuzzDecodeQuery(f *testing.F) {
	for _, seed := range []string{
		"", "env", "env=", "env=A", "env=A=1", "env=A%3D1&env=B=2", "e%6ev=A=%zz", "env=A=1;env=B=2", "env=%00=1", "env=A=%ff",
		"env==x", "a=1&env=KUBERNETES_EXEC_AUDIT_ID=x", "env=A=\n", strings.Repeat("env=A=1&", 300), "%=x&env=A=+%2B",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		checkAgainstNetURL(t, query)
		checkValues(t, query, execaudit.Limits{})
		checkValues(t, query, execaudit.Limits{Entries: 2, Bytes: 5})
		envs, faults := execaudit.DecodeQuery(query, execaudit.Limits{})
		if len(envs) > execaudit.MaxEnvEntries || len(envs) > 0 && faults != nil {
			t.Fatalf("DecodeQuery = %d entries, %v", len(envs), faults)
		}
		partly, same := execaudit.DecodePartly(query, execaudit.Limits{})
		if len(partly) > execaudit.MaxEnvEntries || !reflect.DeepEqual(same, faults) {
			t.Fatalf("DecodePartly = %d entries, %v, where DecodeQuery has %v", len(partly), same, faults)
		}
		if faults == nil && !reflect.DeepEqual(partly, envs) {
			t.Fatalf("DecodePartly = %q without a fault, DecodeQuery %q", environ(partly), environ(envs))
		}
		encoded, err := execaudit.EncodeQuery(envs)
		if err != nil {
			t.Fatalf("what decoded does not encode: %v", err)
		}
		if again, _ := execaudit.DecodeQuery(encoded, execaudit.Limits{}); !reflect.DeepEqual(again, envs) {
			t.Fatalf("%q decodes to %q, encoded and decoded %q", query, environ(envs), environ(again))
		}
		for _, e := range envs {
			if e.Name == execaudit.AuditIDName && execaudit.ReservedInQuery(query, execaudit.ReservedList) == nil {
				t.Fatalf("ReservedInQuery(%q) misses what DecodeQuery finds", query)
			}
		}
	})
}

func FuzzParseAssignment(f *testing.F) {
	for _, seed := range []string{"", "=", "A", "A=", "A=b=c", "A=1,2", "=x", "\x00=\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := execaudit.ParseAssignment(text)
		switch {
		case err == nil && e.Name+"="+e.Value.Reveal() != text:
			t.Fatalf("ParseAssignment(%q) = name %q, value %q", text, e.Name, e.Value.Reveal())
		case err != nil && len(text) > 20 && strings.Contains(err.Error(), text):
			t.Fatalf("the error repeats the text: %v", err)
		}
	})
}

func FuzzRedactQuery(f *testing.F) {
	for _, seed := range []string{"", "env=A=", "a=1&env=", "e%6ev=", "env=A%3d", "x;env=A=", "%z=", "env=A=1;b"} {
		f.Add(seed)
	}
	const secret = "S3CRET"
	f.Fuzz(func(t *testing.T, before string) {
		query := before + secret
		redacted := execaudit.RedactQuery(query)
		if execaudit.RedactQuery(redacted) != redacted {
			t.Fatalf("RedactQuery(%q) = %q is not redacted", query, redacted)
		}
		envs, _ := execaudit.DecodeQuery(query, execaudit.Limits{Entries: 1 << 20, Bytes: 1 << 20})
		for _, e := range envs {
			if strings.HasSuffix(e.Value.Reveal(), secret) && strings.Contains(redacted, secret) {
				t.Fatalf("RedactQuery(%q) = %q", query, redacted)
			}
		}
	})
}
