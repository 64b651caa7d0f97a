package envprecedence_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

const secret = "hunter2"

// faultCases are single entries with the rule that each breaks; nil for none.
var faultCases = []struct {
	name  string
	entry envprecedence.Entry
	want  error
}{
	{"ENV-11 an empty name", envprecedence.NewEntry("", secret), envprecedence.ErrEmptyName},
	{"ENV-11 an equals sign in the name", envprecedence.NewEntry("A=B", secret), envprecedence.ErrEqualsInName},
	{"ENV-11 a NUL in the name", envprecedence.NewEntry("A\x00B", secret), envprecedence.ErrNUL},
	{"ENV-11 a NUL in the value", envprecedence.NewEntry("A", secret+"\x00"), envprecedence.ErrNUL},
	{"ENV-11 a name that is not UTF-8", envprecedence.NewEntry("A\xff", secret), envprecedence.ErrNameNotUTF8},
	{
		"ENV-11 one byte over MAX_ARG_STRLEN",
		envprecedence.NewEntry("A", strings.Repeat(secret, 20_000)[:131_072-len("A=")]),
		envprecedence.ErrEntryTooLong,
	},
	{
		"ENV-11 the longest entry that execve takes",
		envprecedence.NewEntry("A", strings.Repeat("v", 131_071-len("A="))),
		nil,
	},
	{"ENV-5 ENV-11 any value without NUL", envprecedence.NewEntry("A", "\xff$X=\n\t'"), nil},
	{"ENV-9 ENV-11 an empty value", envprecedence.NewEntry("A", ""), nil},
	{"ENV-11 a name outside the KEP's pattern is another module's matter", envprecedence.NewEntry("1 ü", "x"), nil},
}

func TestFaults(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			entries := []envprecedence.Entry{envprecedence.NewEntry("FIRST", "1"), c.entry}
			environ, err := envprecedence.Environ(entries, 0)
			wantRule(t, environ, err, c.entry.Name, c.want)
		})
	}
	for _, c := range faultCases {
		if c.want == envprecedence.ErrEqualsInName {
			continue // an environ string cannot show it
		}
		t.Run(c.name+", as an environ string", func(t *testing.T) {
			err := envprecedence.Validate([]string{"FIRST=1", c.entry.Name + "=" + c.entry.Value.Reveal()}, 0)
			wantRule(t, nil, err, c.entry.Name, c.want)
		})
	}
	t.Run("ENV-11 no equals sign", func(t *testing.T) {
		wantRule(t, nil, envprecedence.Validate([]string{"FIRST=1", secret}, 0), "", envprecedence.ErrNoEquals)
	})
}

// wantRule fails unless the second entry breaks the rule and the error shows its name, no value, and no environment
// came with it.
func wantRule(t *testing.T, environ []string, err error, name string, want error) {
	t.Helper()
	if want == nil {
		if err != nil {
			t.Errorf("the entry is refused with %v, want it accepted", err)
		}
		return
	}
	var fault *envprecedence.EntryError
	if !errors.As(err, &fault) || !errors.Is(err, want) || fault.Index != 1 || fault.Name != name || environ != nil {
		t.Fatalf("got %q, %+v, want no environment and %v for entry 1, %q", environ, err, want, name)
	}
	if text := fmt.Sprintf("%v %+v %#v", err, fault, *fault); strings.Contains(text, secret) {
		t.Errorf("the error reads %q, want no value in it", text)
	}
}

func TestLimit(t *testing.T) {
	entries := []envprecedence.Entry{envprecedence.NewEntry("A", "12"), envprecedence.NewEntry("B", "345"), envprecedence.NewEntry("C", "6")}
	const size = 4 + 1 + 5 + 1 + 3 + 1 // with the closing NULs
	t.Run("ENV-11 a total within the limit", func(t *testing.T) {
		environ, err := envprecedence.Environ(entries, size)
		if want := []string{"A=12", "B=345", "C=6"}; err != nil || !slices.Equal(environ, want) {
			t.Errorf("Environ(…, %d) = %q, %v, want %q", size, environ, err, want)
		}
	})
	t.Run("ENV-11 a total over the limit is refused once, at the entry that does not fit", func(t *testing.T) {
		_, err := envprecedence.Environ(entries, 9)
		want := envprecedence.EntryError{Index: 1, Name: "B", Size: 11, Limit: 9, Err: envprecedence.ErrTotalTooLong}
		var fault *envprecedence.EntryError
		if !errors.As(err, &fault) || *fault != want || strings.Contains(err.Error(), "\n") {
			t.Errorf("Environ(…, 9) errs with %v, want only %v", err, &want)
		}
		if text := `entry 1 "B": environment too long: 11 bytes exceed 9`; err.Error() != text {
			t.Errorf("the error reads %q, want %q", err, text)
		}
	})
	t.Run("ENV-11 every fault is told at once", func(t *testing.T) {
		err := envprecedence.Validate([]string{"=x", "A=\x00", "B=1"}, 5)
		want := "entry 0: empty name\nentry 1 \"A\": holds a NUL byte\nentry 2 \"B\": environment too long: 8 bytes exceed 5"
		if err == nil || err.Error() != want {
			t.Errorf("Validate(…) = %v, want %s", err, want)
		}
	})
	t.Run("ENV-11 a long name is cut in the message", func(t *testing.T) {
		err := envprecedence.Validate([]string{strings.Repeat("N", 200_000) + "=1"}, 0)
		if err == nil || len(err.Error()) > 200 {
			t.Errorf("Validate(…) has a message of %d bytes, want at most 200", len(err.Error()))
		}
	})
}

func TestParse(t *testing.T) {
	t.Run("ENV-10 an entry splits at its first equals sign", func(t *testing.T) {
		got, err := envprecedence.Parse([]string{"A=b=c", "B=", "C==d"})
		want := []envprecedence.Entry{envprecedence.NewEntry("A", "b=c"), envprecedence.NewEntry("B", ""), envprecedence.NewEntry("C", "=d")}
		if err != nil || !slices.EqualFunc(got, want, envprecedence.Entry.Equal) {
			t.Errorf("Parse(…) differs from the entries wanted, or errs: %v", err)
		}
	})
	t.Run("ENV-10 every malformed entry is told at once", func(t *testing.T) {
		got, err := envprecedence.Parse([]string{"A=1", "NOEQUALS", "=x"})
		want := "entry 1: no \"=\" between name and value\nentry 2: empty name"
		if got != nil || err == nil || err.Error() != want {
			t.Errorf("Parse(…) = %v, %v, want %s", got, err, want)
		}
	})
}

func TestEntryHidesItsValue(t *testing.T) {
	entry := envprecedence.NewEntry("TOKEN", secret)
	base, _ := envprecedence.Prepare([]string{"TOKEN=" + secret}, envprecedence.PlatformLinux)
	tiers := envprecedence.Tiers{Caller: []string{"TOKEN=" + secret}, Container: []string{secret}}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"an entry", entry, "TOKEN=[redacted]"},
		{"a pointer to an entry", &entry, "TOKEN=[redacted]"},
		{"entries", []envprecedence.Entry{entry}, "TOKEN=[redacted]"},
		{"an entry in an unexported field", struct{ entry envprecedence.Entry }{entry}, ""},
		{"a baseline", *base, "baseline of 1 entries"},
		{"a pointer to a baseline", base, "baseline of 1 entries"},
		{"tiers", tiers, "caller 1, container 1 entries"},
	} {
		t.Run("ENV-11 MOD-9 no print shows a value: "+c.name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				wantHidden(t, verb, fmt.Sprintf(verb, c.value), c.want)
			}
			for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
				"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
				"slog JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
			} {
				var log bytes.Buffer
				slog.New(handler(&log)).Info("exec", "value", c.value)
				wantHidden(t, name, log.String(), "")
			}
			text, err := json.Marshal(c.value)
			if err != nil {
				t.Fatal(err)
			}
			wantHidden(t, "JSON", string(text), "")
		})
	}
	t.Run("ENV-11 a name that could forge a line is quoted, and a long one is cut", func(t *testing.T) {
		for name, want := range map[string]string{
			"A.b-1": "A.b-1", "": `""`, "a\nb": `"a\nb"`, "A B": `"A B"`, "A=B": `"A=B"`, "ä": `"ä"`, "\xff": `"\xff"`,
			strings.Repeat("n", 1<<20): `"` + strings.Repeat("n", 64) + `"...`,
		} {
			if got := envprecedence.NewEntry(name, secret).String(); got != want+"=[redacted]" {
				t.Errorf("an entry shows as %.100s, want %s=[redacted]", got, want)
			}
		}
	})
}

// wantHidden fails if the text shows the secret, in any form that a verb gives it, or lacks what is wanted.
func wantHidden(t *testing.T, way, text, want string) {
	t.Helper()
	if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) || !strings.Contains(text, want) {
		t.Errorf("%s shows %q, want %q in it and no value", way, text, want)
	}
}

func TestEntryEquality(t *testing.T) {
	a := envprecedence.NewEntry("A", "1")
	for _, other := range []envprecedence.Entry{envprecedence.NewEntry("A", "2"), envprecedence.NewEntry("B", "1"), {}} {
		if a.Equal(other) || other.Equal(a) {
			t.Errorf("%v equals %v", a, other)
		}
	}
	if !a.Equal(envprecedence.NewEntry("A", "1")) || !(envprecedence.Entry{}).Equal(envprecedence.NewEntry("", "")) {
		t.Error("an entry does not equal one of the same content")
	}
}
