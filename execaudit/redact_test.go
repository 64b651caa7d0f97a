package execaudit_test

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func TestRedactQuery(t *testing.T) {
	cases := []struct{ name, query, want string }{
		{"nothing", "", ""},
		{"others stay", "command=sh&command=-c&input=1;x&&a=b=%zz", "command=sh&command=-c&input=1;x&&a=b=%zz"},
		{"EXA-28 the value goes, the name stays", "a=1&env=TOKEN%3Dhunter2&b=2", "a=1&env=TOKEN=[redacted]&b=2"},
		{"EXA-28 unescaped", "env=TOKEN=hunter2=x", "env=TOKEN=[redacted]"},
		{"EXA-28 lower-case escape", "env=TOKEN%3dhunter2=x", "env=TOKEN=[redacted]"},
		{"EXA-28 a value that stands alone goes", "env=hunter2", "env=[redacted]"},
		{"EXA-28 what is no name goes", "env=hunter%202=x", "env=[redacted]"},
		{"EXA-28 an empty name", "env==hunter2", "env=[redacted]"},
		{"EXA-28 an escaped key", "%65nv=A=hunter2", "%65nv=A=[redacted]"},
		{"EXA-28 an unreadable key", "%6=A=hunter2", "%6=A=[redacted]"},
		{"EXA-28 a semicolon in the value", "env=A=1;hunter2&b=2", "env=A=[redacted]&b=2"},
		{"EXA-28 behind a semicolon", "a=1;env=A=hunter2;hunter2&b=2", "a=1;env=A=[redacted]&b=2"},
		{"EXA-28 two semicolons", "a=1;;env=A=hunter2&b=2", "a=1;;env=A=[redacted]&b=2"},
		{"EXA-28 a bad escape before, in and behind", "a=%zz&env=%zzA=hunter2%&env%=A=hunter2%4", "a=%zz&env=[redacted]&env%=A=[redacted]"},
		{"EXA-28 in a URL that is a parameter's value", "next=/exec?env=A=hunter2;x?hunter2&b=2", "next=/exec?env=A=[redacted]&b=2"},
		{"EXA-28 a question mark that is only one", "a=b?c=d;e?&f", "a=b?c=d;e?&f"},
		{"EXA-28 bytes whose upper case is longer", "%=\xfe\xfe\xfe%3dhunter2", "%=[redacted]"},
		{"EXA-28 percent garbage", "env=A=%zzhunter2", "env=A=[redacted]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := execaudit.RedactQuery(c.query); got != c.want {
				t.Errorf("RedactQuery(%q) = %s, want %s", c.query, got, c.want)
			}
		})
	}
}

func TestRedactURL(t *testing.T) {
	u, err := url.Parse("https://u:hunter2@node:10250/exec/ns/pod/c?command=sh&env=A%3Dhunter2#f")
	if err != nil {
		t.Fatal(err)
	}
	before := *u
	t.Run("EXA-28 a URL", func(t *testing.T) {
		want := "https://u:xxxxx@node:10250/exec/ns/pod/c?command=sh&env=A=[redacted]#f"
		if got := execaudit.RedactURL(u); got != want {
			t.Errorf("RedactURL = %s, want %s", got, want)
		}
		if *u != before {
			t.Error("the caller's URL changed")
		}
	})
	t.Run("no URL", func(t *testing.T) {
		if got := execaudit.RedactURL(nil); got != "" {
			t.Errorf("RedactURL(nil) = %s", got)
		}
	})
	t.Run("EXA-28 a request line", func(t *testing.T) {
		if got, want := execaudit.RedactURI("/exec?env=A=%zz?hunter2"), "/exec?env=A=[redacted]"; got != want {
			t.Errorf("RedactURI = %s, want %s", got, want)
		}
		if got, want := execaudit.RedactURI("/exec"), "/exec"; got != want {
			t.Errorf("RedactURI = %s, want %s", got, want)
		}
		if got, want := execaudit.RedactURI("what?/exec?env=A=hunter2"), "what?/exec?env=A=[redacted]"; got != want {
			t.Errorf("RedactURI = %s, want %s", got, want)
		}
	})
}

func TestRedactLaws(t *testing.T) {
	t.Run("EXA-28 no value remains, however it is escaped", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			secret := "S3CRET" + rapid.StringMatching(`[a-z;=&+%]{0,8}`).Draw(t, "secret")
			envs := []env{envprecedence.NewEntry(rapid.StringMatching(`[A-Z]{1,4}`).Draw(t, "name"), secret)}
			query, err := execaudit.EncodeQuery(envs)
			if err != nil {
				t.Fatal(err)
			}
			prefix := rapid.StringMatching(`([a-z]=[a-z0-9]*[&;])?`).Draw(t, "prefix")
			if got := execaudit.RedactQuery(prefix + query); strings.Contains(got, "S3CRET") || !strings.HasPrefix(got, prefix) {
				t.Fatalf("RedactQuery(%q) = %s", prefix+query, got)
			}
		})
	})
	t.Run("idempotent", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			query := rapid.StringMatching(`((env|e%6ev|a)?=?[A-C=%;+&]{0,6}[&;]?){0,6}`).Draw(t, "query")
			once := execaudit.RedactQuery(query)
			if twice := execaudit.RedactQuery(once); twice != once {
				t.Fatalf("RedactQuery(%q) = %s, again %s", query, once, twice)
			}
		})
	})
}
