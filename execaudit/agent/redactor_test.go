package agent_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/redact"
)

// told returns the arguments as a policy tells them.
func tellArgs(p agent.ArgsPolicy, cut bool, args ...string) []string {
	k := track(agent.Options{Args: p})
	k.AddRecord(intent("e1", 7, inA))
	o := run(7, 12, inA, args...)
	if cut {
		o.Args, o.ArgsCut = redact.NewBytes([]byte(strings.Join(args, "\x00"))), true
	}
	k.Observe(o)
	return k.events[0].Args
}

func TestArgs(t *testing.T) {
	const mark = redact.Mark
	for _, c := range []struct{ name, args, want string }{
		{
			"a flag with its value", "login --password=open sesame --user bob",
			"login --password=" + mark + " sesame --user bob",
		},
		{"a flag before its value", "login --api-key 12 x", "login --api-key " + mark + " x"},
		{"a flag with one hyphen", "openssl -passin pass:x", "openssl -passin " + mark},
		{"a variable", "env DB_PASSWORD=x PATH=/bin id", "env DB_PASSWORD=" + mark + " PATH=/bin id"},
		{
			"a URL with a password", "git clone https://bob:x@example.com/a.git",
			"git clone https://" + mark + "@example.com/a.git",
		},
		{"a URL with a path and an at", "curl https://example.com/@a", "curl https://example.com/@a"},
		{"a login of curl", "curl -u bob:x https://example.com", "curl -u bob:" + mark + " https://example.com"},
		{"a user without a password", "sudo -u bob id", "sudo -u bob id"},
		{"MySQL's flag", "/usr/bin/mysql -pgeheim db", "/usr/bin/mysql -p" + mark + " db"},
		{"MySQL asks", "mysql -p db", "mysql -p db"},
		{"sshpass", "sshpass -p x ssh host", "sshpass -p " + mark + " ssh host"},
		{"another -p", "mkdir -p /a/b", "mkdir -p /a/b"},
		{"hexadecimal", "x 0123456789abcdef0123456789abcdef", "x " + mark},
		{"base64", "x dGhpcyBpcyBhIHNlY3JldCB0ZXh0IDE=", "x " + mark + "="},
		{"a UUID", "x f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8", "x f4a3b2c1-5d6e-4f70-8192-a3b4c5d6e7f8"},
		{
			"a path", "ls /usr/lib/x86_64-linux-gnu/libc.so.6 /var/lib/kubelet/pods",
			"ls /usr/lib/x86_64-linux-gnu/libc.so.6 /var/lib/kubelet/pods",
		},
		{"an AWS key", "x AKIAIOSFODNN7EXAMPLE", "x " + mark},
	} {
		t.Run("AGT-6 redacted by pattern: "+c.name, func(t *testing.T) {
			if got := strings.Join(tellArgs(agent.ArgsPolicy{}, false, strings.Split(c.args, " ")...), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	for _, c := range []struct{ name, arg, want string }{
		{
			"a script", `mysql --password=x -e 'SELECT 1'; TOKEN="a b"'c' id`,
			`mysql --password=` + mark + ` -e 'SELECT 1'; TOKEN=` + mark + ` id`,
		},
		{"a header", `curl -H 'Authorization: Bearer abc.def' x`, `curl -H 'Authorization: ` + mark + `' x`},
		{"another header", `X-Auth-Token: a b`, `X-Auth-Token: ` + mark},
		{"a field", `{"user":"bob", "password":"x y"}`, `{"user":"bob", "password":` + mark},
		{"a flag's value with spaces", `--password=a b`, `--password=` + mark},
		{"a key", "-----BEGIN RSA PRIVATE KEY-----\nabc\n", mark},
		{"a bearer's", `got Bearer abcdef`, `got Bearer ` + mark},
		{"a JWT", `x eyJhbGciOi.eyJzdWIi.abc y`, `x ` + mark + ` y`},
		{"nothing", `cat /etc/passwd`, `cat /etc/passwd`},
	} {
		t.Run("AGT-6 redacted within an argument: "+c.name, func(t *testing.T) {
			if got := tellArgs(agent.ArgsPolicy{}, false, "sh", c.arg)[1]; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	t.Run("AGT-6 a pattern of one's own", func(t *testing.T) {
		p := agent.ArgsPolicy{Patterns: []*regexp.Regexp{regexp.MustCompile(`ACME-\d+`)}}
		if got := tellArgs(p, false, "x", "a ACME-17 b"); got[1] != "a "+mark+" b" {
			t.Errorf("%q", got)
		}
	})
	t.Run("AGT-6 an argument that was cut is redacted as a whole, and kept as a part", func(t *testing.T) {
		for mode, want := range map[agent.ArgsMode]string{agent.ArgsRedact: mark, agent.ArgsKeep: "harml"} {
			if got := tellArgs(agent.ArgsPolicy{Mode: mode}, true, "x", "harml"); !slices.Equal(got, []string{"x", want}) {
				t.Errorf("%v: %q", mode, got)
			}
		}
	})
	t.Run("AGT-6 hashed with a key: equal ones are equal, and nothing else shows", func(t *testing.T) {
		p := agent.ArgsPolicy{Mode: agent.ArgsHash, Key: redact.NewBytes([]byte("k"))}
		got := tellArgs(p, false, "a", "b", "a")
		p.Key = redact.NewBytes([]byte("l"))
		if other := tellArgs(p, false, "a"); got[0] != got[2] || got[0] == got[1] || got[0] == other[0] || len(got[0]) != 16 {
			t.Errorf("%q, %q", got, other)
		}
	})
	t.Run("AGT-6 left out", func(t *testing.T) {
		if got := tellArgs(agent.ArgsPolicy{Mode: agent.ArgsOmit}, false, "a"); len(got) != 0 {
			t.Errorf("%q", got)
		}
	})
}

func TestArgsLaws(t *testing.T) {
	t.Run("AGT-6 a secret in a place for secrets is never told, whatever stands around it", func(t *testing.T) {
		places := rapid.SampledFrom([][]string{
			{"--password=%"},
			{"--db-password", "%"},
			{"-token", "%"},
			{"TOKEN=%"},
			{"https://bob:%@example.com/"},
			{"Authorization: Bearer %"},
			{"sh", "-c", "curl -H 'X-Api-Key: %' x"},
			{"sh", "-c", "login --secret % ; id"},
			{"sh", "-c", `export API_KEY="%" x`},
			{"-u", "bob:%"},
		})
		rapid.Check(t, func(t *rapid.T) {
			secret := rapid.StringMatching(`[a-zA-Z0-9!#$%^*+,.=~_-]{8,20}`).Draw(t, "secret")
			args := []string{"x"}
			args = append(args, rapid.SliceOf(rapid.StringMatching(`[a-z0-9 /.-]{0,10}`)).Draw(t, "before")...)
			if n := len(args); strings.HasPrefix(args[n-1], "-") {
				args[n-1] = "x"
			}
			for _, arg := range places.Draw(t, "place") {
				args = append(args, strings.ReplaceAll(arg, "%", secret))
			}
			for _, told := range tellArgs(agent.ArgsPolicy{}, false, args...) {
				if strings.Contains(told, secret) {
					t.Fatalf("%q tells %q", told, secret)
				}
			}
		})
	})
	t.Run("AGT-6 redacting what is redacted changes nothing, and keeps the number of arguments", func(t *testing.T) {
		word := rapid.SampledFrom([]string{
			"--password", "=", ":", " ", "x", `"`, "'", "token", "https://", "@", "a:b",
			"Bearer ", "0123456789abcdef", "Aa1", "[redacted]", "-",
		})
		rapid.Check(t, func(t *rapid.T) {
			var args []string
			for range rapid.IntRange(1, 5).Draw(t, "n") {
				args = append(args, strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, "arg"), ""))
			}
			once := tellArgs(agent.ArgsPolicy{}, false, args...)
			twice := tellArgs(agent.ArgsPolicy{}, false, once...)
			if len(once) != len(args) || !slices.Equal(once, twice) {
				t.Fatalf("%q, then %q, then %q", args, once, twice)
			}
		})
	})
}

func TestParseArgsPolicy(t *testing.T) {
	t.Run("AGT-6 each mode by its name, and nothing else", func(t *testing.T) {
		for _, mode := range []agent.ArgsMode{agent.ArgsRedact, agent.ArgsKeep, agent.ArgsHash, agent.ArgsOmit} {
			if p, err := agent.ParseArgsPolicy(mode.String()); err != nil || p.Mode != mode {
				t.Errorf("%v: %+v, %v", mode, p, err)
			}
		}
		if _, err := agent.ParseArgsPolicy("Keep"); !errors.Is(err, agent.ErrArgsPolicy) {
			t.Errorf("ParseArgsPolicy = %v", err)
		}
	})
}
