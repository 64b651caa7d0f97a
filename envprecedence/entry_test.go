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
	{"ENV-11 an empty name", envprecedence.Entry{Value: secret}, envprecedence.ErrEmptyName},
	{"ENV-11 an equals sign in the name", envprecedence.Entry{Name: "A=B", Value: secret}, envprecedence.ErrEqualsInName},
	{"ENV-11 a NUL in the name", envprecedence.Entry{Name: "A\x00B", Value: secret}, envprecedence.ErrNUL},
	{"ENV-11 a NUL in the value", envprecedence.Entry{Name: "A", Value: secret + "\x00"}, envprecedence.ErrNUL},
	{"ENV-11 a name that is not UTF-8", envprecedence.Entry{Name: "A\xff", Value: secret}, envprecedence.ErrNameNotUTF8},
	{
		"ENV-11 one byte over MAX_ARG_STRLEN",
		envprecedence.Entry{Name: "A", Value: strings.Repeat(secret, 20_000)[:131_072-len("A=")]},
		envprecedence.ErrEntryTooLong,
	},
	{
		"ENV-11 the longest entry that execve takes",
		envprecedence.Entry{Name: "A", Value: strings.Repeat("v", 131_071-len("A="))},
		nil,
	},
	{"ENV-5 ENV-11 any value without NUL", envprecedence.Entry{Name: "A", Value: "\xff$X=\n\t'"}, nil},
	{"ENV-9 ENV-11 an empty value", envprecedence.Entry{Name: "A"}, nil},
	{"ENV-11 a name outside the KEP's pattern is another module's matter", envprecedence.Entry{Name: "1 ü", Value: "x"}, nil},
}

func TestFaults(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			entries := []envprecedence.Entry{{Name: "FIRST", Value: "1"}, c.entry}
			environ, err := envprecedence.Environ(entries, 0)
			wantRule(t, environ, err, c.entry.Name, c.want)
		})
	}
	for _, c := range faultCases {
		if c.want == envprecedence.ErrEqualsInName {
			continue // an environ string cannot show it
		}
		t.Run(c.name+", as an environ string", func(t *testing.T) {
			err := envprecedence.Validate([]string{"FIRST=1", c.entry.Name + "=" + c.entry.Value}, 0)
			wantRule(t, nil, err, c.entry.Name, c.want)
		})
	}
	t.Run("ENV-11 no equals sign", func(t *testing.T) {
		wantRule(t, nil, envprecedence.Validate([]string{"FIRST=1", secret}, 0), "", envprecedence.ErrNoEquals)
	})
}

// wantRule fails unless the second entry breaks the rule and the error shows its name, no value, and no environment came
// with it.
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
	entries := []envprecedence.Entry{{Name: "A", Value: "12"}, {Name: "B", Value: "345"}, {Name: "C", Value: "6"}}
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
		want := []envprecedence.Entry{{Name: "A", Value: "b=c"}, {Name: "B"}, {Name: "C", Value: "=d"}}
		if err != nil || !slices.Equal(got, want) {
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
	entry := envprecedence.Entry{Name: "TOKEN", Value: secret}
	t.Run("ENV-11 no print of an entry shows its value", func(t *testing.T) {
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("exec", "entry", entry, "all", []envprecedence.Entry{entry})
		slog.New(slog.NewJSONHandler(&log, nil)).Info("exec", "entry", entry, "all", []envprecedence.Entry{entry})
		text, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range []string{
			log.String(), string(text), fmt.Sprintf("%v %+v %#v %s %q", entry, entry, entry, entry, entry),
			fmt.Sprintf("%v %#v", []envprecedence.Entry{entry}, &entry),
		} {
			if strings.Contains(shown, secret) || !strings.Contains(shown, "TOKEN") {
				t.Errorf("it shows as %q, want the name without the value", shown)
			}
		}
	})
}
