package execaudit_test

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func TestEncodeQuery(t *testing.T) {
	t.Run("EXA-14 env=NAME=VALUE in order, escaped", func(t *testing.T) {
		envs := []env{envprecedence.NewEntry("B", "x y&z=1+2%;#"), envprecedence.NewEntry("A", ""), envprecedence.NewEntry("B", "ü\n")}
		got, err := execaudit.EncodeQuery(envs)
		if want := "env=B%3Dx+y%26z%3D1%2B2%25%3B%23&env=A%3D&env=B%3D%C3%BC%0A"; got != want || err != nil {
			t.Errorf("EncodeQuery = %s, %v, want %s", got, err, want)
		}
	})
	t.Run("none", func(t *testing.T) {
		if got, err := execaudit.EncodeQuery(nil); got != "" || err != nil {
			t.Errorf("EncodeQuery(nil) = %q, %v", got, err)
		}
	})
	bad := map[string]env{
		"the name is empty":                                     envprecedence.NewEntry("", "v"),
		"the name holds '=', NUL or invalid UTF-8":              envprecedence.NewEntry("A=B", "v"),
		"the value must not contain a NUL byte":                 envprecedence.NewEntry("A", "v\x00"),
		"the value must be valid UTF-8":                         envprecedence.NewEntry("A", "v\xff"),
		"the name holds '=', NUL or invalid UTF-8 (once again)": envprecedence.NewEntry("A\xff", "v"),
	}
	for reason, e := range bad {
		t.Run("refused: "+reason, func(t *testing.T) {
			_, err := execaudit.EncodeQuery([]env{envprecedence.NewEntry("OK", ""), e})
			reason, _, _ := strings.Cut(reason, " (")
			if want := "entry cannot travel in a query: env[1]: " + reason; !errors.Is(err, execaudit.ErrNotEncodable) || err.Error() != want {
				t.Errorf("EncodeQuery = %v, want %s", err, want)
			}
		})
	}
}

func TestDecodeQuery(t *testing.T) {
	cases := []struct {
		name, query string
		want        []env
	}{
		{"nothing", "", nil},
		{"other parameters", "command=env&input=1&environment=A=1&ENV=A=1", nil},
		{"EXA-16 in order, duplicates kept", "env=B=1&env=A=2&env=B=3", []env{envprecedence.NewEntry("B", "1"), envprecedence.NewEntry("A", "2"), envprecedence.NewEntry("B", "3")}},
		{"EXA-16 among others", "command=sh&env=A%3D1&input=1&env=B%3D2&tty=1", []env{envprecedence.NewEntry("A", "1"), envprecedence.NewEntry("B", "2")}},
		{"the first '=' ends the name", "env=A=b=c%3Dd", []env{envprecedence.NewEntry("A", "b=c=d")}},
		{"EXA-3 an empty value", "env=A=", []env{envprecedence.NewEntry("A", "")}},
		{"escapes", "env=A%3Dx+y%26z%2b%C3%BC%0a%25", []env{envprecedence.NewEntry("A", "x y&z+ü\n%")}},
		{"an escaped key", "%65n%76=A=1", []env{envprecedence.NewEntry("A", "1")}},
		{"a malformed key is another parameter", "%zz=A=1&e%6=B=2", nil},
		{"empty segments", "&&env=A=1&&", []env{envprecedence.NewEntry("A", "1")}},
		{"a semicolon elsewhere", "command=a;b&env=A=1", []env{envprecedence.NewEntry("A", "1")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, faults := execaudit.DecodeQuery(c.query, execaudit.Limits{})
			if !reflect.DeepEqual(got, c.want) || faults != nil {
				t.Errorf("DecodeQuery(%q) = %q, %v, want %q", c.query, environ(got), faults, environ(c.want))
			}
		})
	}
}

func TestDecodeQueryFaults(t *testing.T) {
	cases := []struct {
		name, query string
		want        []string
	}{
		{"EXA-16 without '=', by position", "env=A=1&x=y&env=secret", []string{"env[1]: Invalid value: must be NAME=VALUE"}},
		{"EXA-16 without anything", "env", []string{"env[0]: Invalid value: must be NAME=VALUE"}},
		{"EXA-16 an empty name, by position", "env=A=1&env=%3Dsecret", []string{"env[1].name: Required value"}},
		{"percent garbage", "env=A=%zz", []string{"env[0]: Invalid value: must not contain a malformed percent escape"}},
		{"a cut escape", "env=A=%4", []string{"env[0]: Invalid value: must not contain a malformed percent escape"}},
		{"a cut escape before the next parameter", "env=A=%&env=41=1", []string{"env[0]: Invalid value: must not contain a malformed percent escape"}},
		{"a raw semicolon, where parsers disagree", "env=A=1;env=KUBERNETES_EXEC_AUDIT_ID=x", []string{"env[0]: Invalid value: must not contain an unescaped semicolon"}},
		{"a raw newline", "env=A=1\n", []string{"env[0]: Invalid value: must not contain an unescaped control character"}},
		{"a NUL in the value", "env=A=1%00", []string{"env[0].value: Invalid value: must not contain a NUL byte"}},
		{"a NUL in the name", "env=A%00=1", []string{"env[0].name: Invalid value: must not contain a NUL byte"}},
		{"invalid UTF-8 in the value", "env=A=%ff", []string{"env[0].value: Invalid value: must be valid UTF-8"}},
		{"invalid UTF-8 in the name", "env=%ff=1", []string{"env[0].name: Invalid value: must be valid UTF-8"}},
		{
			"EXA-9 all at once", "env=1&env=OK=1&env==2&env=%&env=X=%00",
			[]string{
				"env[0]: Invalid value: must be NAME=VALUE",
				"env[2].name: Required value",
				"env[3]: Invalid value: must not contain a malformed percent escape",
				"env[4].value: Invalid value: must not contain a NUL byte",
			},
		},
		{
			"EXA-35 the name's and the value's fault of one entry", "env==%00&env=A%00=%ff",
			[]string{
				"env[0].name: Required value",
				"env[0].value: Invalid value: must not contain a NUL byte",
				"env[1].name: Invalid value: must not contain a NUL byte",
				"env[1].value: Invalid value: must be valid UTF-8",
			},
		},
		{
			"EXA-32 behind a raw semicolon in another parameter, where it would be lost", "env=A=1&a=1;b;e%6Ev=B=2&env=C=3&;env",
			[]string{
				"env[1]: Invalid value: must not contain an unescaped semicolon",
				"env[3]: Invalid value: must not contain an unescaped semicolon",
			},
		},
		{
			"EXA-5 10,000 parameters", strings.Repeat("env=A=1&", 10_000),
			[]string{"env: Too many: 10000: must have at most 256 items"},
		},
		{
			"EXA-6 a value of 1 MiB, and the faults around it", "env=1&env=A=" + strings.Repeat("%41", 1<<20) + "&env=2",
			[]string{"env: Too long: may not be more than 32768 bytes", "env[0]: Invalid value: must be NAME=VALUE"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, faults := execaudit.DecodeQuery(c.query, execaudit.Limits{})
			if got != nil {
				t.Errorf("DecodeQuery returned entries beside faults: %q", environ(got))
			}
			wantFaults(t, faults, c.want...)
		})
	}
}

func TestDecodePartly(t *testing.T) {
	t.Run("EXA-35 what can be read stands at its place, what cannot is empty", func(t *testing.T) {
		got, faults := execaudit.DecodePartly("env=A=1&env=%zz&x=y&env=B=%00&env=hunter2&a;env=C=1&env=%ff=1&env=D=", execaudit.Limits{})
		want := []env{envprecedence.NewEntry("A", "1"), {}, envprecedence.NewEntry("B", ""), {}, {}, envprecedence.NewEntry("", "1"), envprecedence.NewEntry("D", "")}
		if !reflect.DeepEqual(got, want) || len(execaudit.FaultsOf(faults)) != 5 {
			t.Errorf("DecodePartly = %q with %v, want %q with five faults", environ(got), faults, environ(want))
		}
	})
	t.Run("EXA-35 what is past a limit is empty, or missing", func(t *testing.T) {
		got, faults := execaudit.DecodePartly("env=A=1&env=B=22&env=C=3", execaudit.Limits{Entries: 2, Bytes: 4})
		if want := []env{envprecedence.NewEntry("A", "1"), {}}; !reflect.DeepEqual(got, want) || len(execaudit.FaultsOf(faults)) != 2 {
			t.Errorf("DecodePartly = %q with %v, want %q", environ(got), faults, environ(want))
		}
	})
	t.Run("without a fault it is DecodeQuery", func(t *testing.T) {
		got, faults := execaudit.DecodePartly("env=A=1&env=B=2", execaudit.Limits{})
		want, _ := execaudit.DecodeQuery("env=A=1&env=B=2", execaudit.Limits{})
		if !reflect.DeepEqual(got, want) || faults != nil {
			t.Errorf("DecodePartly = %q with %v, want %q", environ(got), faults, environ(want))
		}
	})
}

func TestDecodeValues(t *testing.T) {
	cases := []struct {
		name   string
		values url.Values
		want   []env
	}{
		{"nothing", nil, nil},
		{"other parameters", url.Values{"command": {"env"}, "ENV": {"A=1"}, "environment": {"A=1"}}, nil},
		{"EXA-32 in order, duplicates kept", url.Values{"env": {"B=1", "A=", "B=3"}, "command": {"sh"}}, []env{envprecedence.NewEntry("B", "1"), envprecedence.NewEntry("A", ""), envprecedence.NewEntry("B", "3")}},
		{"EXA-32 what looks escaped is literal", url.Values{"env": {"A=%zz;x+y\n=z"}}, []env{envprecedence.NewEntry("A", "%zz;x+y\n=z")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, err := execaudit.DecodeValues(c.values, execaudit.Limits{}); !reflect.DeepEqual(got, c.want) || err != nil {
				t.Errorf("DecodeValues = %q, %v, want %q", environ(got), err, environ(c.want))
			}
		})
	}
	t.Run("EXA-32 EXA-16 every fault at its place, and no value in it", func(t *testing.T) {
		got, err := execaudit.DecodeValues(url.Values{"env": {"A=1", "hunter2", "=hunter2", "A=hunter2\x00", "B\xff=\xff"}}, execaudit.Limits{})
		if got != nil {
			t.Errorf("DecodeValues returned entries beside faults: %q", environ(got))
		}
		wantFaults(
			t, err,
			"env[1]: Invalid value: must be NAME=VALUE", "env[2].name: Required value", "env[3].value: Invalid value: must not contain a NUL byte",
			"env[4].name: Invalid value: must be valid UTF-8", "env[4].value: Invalid value: must be valid UTF-8",
		)
	})
	t.Run("EXA-5 EXA-6 the limits, and at them", func(t *testing.T) {
		if got, err := execaudit.DecodeValues(url.Values{"env": {"AB=cde", "F=AB"}}, execaudit.Limits{Entries: 2, Bytes: 8}); len(got) != 2 || err != nil {
			t.Errorf("DecodeValues at its limits = %q, %v", environ(got), err)
		}
		_, err := execaudit.DecodeValues(url.Values{"env": {"AB=cde", "F=AB"}}, execaudit.Limits{Entries: 1, Bytes: 4})
		wantFaults(t, err, "env: Too many: 2: must have at most 1 item", "env: Too long: may not be more than 4 bytes")
	})
	t.Run("EXA-32 what net/url left out is not there: a raw query is needed to refuse it", func(t *testing.T) {
		const query = "env=A%3D1;x&env=B%3D%zz&env=C%3D1"
		parsed, err := url.ParseQuery(query)
		got, faults := execaudit.DecodeValues(parsed, execaudit.Limits{})
		if err == nil || faults != nil || !reflect.DeepEqual(got, []env{envprecedence.NewEntry("C", "1")}) {
			t.Errorf("DecodeValues = %q, %v, ParseQuery %v", environ(got), faults, err)
		}
		if _, faults := execaudit.DecodeQuery(query, execaudit.Limits{}); len(execaudit.FaultsOf(faults)) != 2 {
			t.Errorf("DecodeQuery = %v, want two faults", faults)
		}
	})
}

func TestJoinFaults(t *testing.T) {
	fault := func(index int, field, detail string) *execaudit.Fault {
		return &execaudit.Fault{Index: index, Field: field, Kind: execaudit.FaultRequired, Detail: detail}
	}
	a := execaudit.Faults{fault(-1, "", "x"), fault(2, "", "a"), fault(10, "value", "")}
	b := execaudit.Faults{fault(-1, "", "y"), fault(9, "", ""), fault(2, "", "b"), fault(10, "name", "")}
	before := fmt.Sprint(a, b)
	t.Run("EXA-35 in the order of their places", func(t *testing.T) {
		wantFaults(
			t, execaudit.JoinFaults(a, nil, b, errors.New("another error")),
			"env: Required value: x", "env: Required value: y",
			"env[2]: Required value: a", "env[2]: Required value: b", "env[9]: Required value",
			"env[10].name: Required value", "env[10].value: Required value",
		)
	})
	t.Run("none of none, and none of what is not Faults", func(t *testing.T) {
		if err := execaudit.JoinFaults(nil, execaudit.Faults{}, errors.New("another error")); err != nil {
			t.Errorf("JoinFaults = %v, want nil", err)
		}
	})
	t.Run("the lists stay as they are", func(t *testing.T) {
		if after := fmt.Sprint(a, b); after != before {
			t.Errorf("%s became %s", before, after)
		}
	})
}

func TestDecodeQueryLimits(t *testing.T) {
	exact := "env=AB=cde&env=F=%41%42"
	t.Run("EXA-6 sizes are those after decoding", func(t *testing.T) {
		if envs, faults := execaudit.DecodeQuery(exact, execaudit.Limits{Entries: 2, Bytes: 8}); len(envs) != 2 {
			t.Errorf("DecodeQuery at its limits: %v", faults)
		}
	})
	t.Run("one byte less", func(t *testing.T) {
		_, faults := execaudit.DecodeQuery(exact, execaudit.Limits{Bytes: 7})
		wantFaults(t, faults, "env: Too long: may not be more than 7 bytes")
	})
	t.Run("one entry less", func(t *testing.T) {
		_, faults := execaudit.DecodeQuery(exact, execaudit.Limits{Entries: 1})
		wantFaults(t, faults, "env: Too many: 2: must have at most 1 item")
	})
}

// TestHostileQueriesAreCheap counts bytes, which do not depend on the machine: what is
// refused must not be decoded first.
func TestHostileQueriesAreCheap(t *testing.T) {
	hostile := map[string]string{
		"10,000 parameters":         strings.Repeat("env=A=1&", 10_000),
		"10,000 without '='":        strings.Repeat("env&", 10_000),
		"a 1 MiB value":             "env=A=" + strings.Repeat("x", 1<<20),
		"a 1 MiB escaped value":     "env=A=" + strings.Repeat("%41", 1<<20),
		"1 MiB of percent signs":    "env=A=" + strings.Repeat("%", 1<<20),
		"a 1 MiB key":               strings.Repeat("e%6e", 1<<18) + "=A",
		"1 MiB in 256 bad segments": strings.Repeat("env=%"+strings.Repeat("x", 4<<10)+"&", 256),
	}
	for name, query := range hostile {
		t.Run(name, func(t *testing.T) {
			got := allocated(func() { _, _ = execaudit.DecodeQuery(query, execaudit.Limits{}) })
			if got > 256<<10 {
				t.Errorf("DecodeQuery allocates %d bytes, want at most 256 KiB", got)
			}
		})
	}
}

// TestReservedInQueryIsCheap holds the look at names to names: what is allocated must not grow with the values.
func TestReservedInQueryIsCheap(t *testing.T) {
	hostile := map[string]string{
		"256 escaped values of 16 KiB": strings.Repeat("env=A=%41"+strings.Repeat("x", 16<<10)+"&", execaudit.MaxEnvEntries),
		"a 4 MiB escaped value":        "env=A%3D" + strings.Repeat("%41", 4<<20/3),
		"a 4 MiB escaped name":         "env=" + strings.Repeat("%4b", 4<<20/3),
		"a 4 MiB reserved name":        "env=KUBERNETES%5F" + strings.Repeat("%58", 4<<20/3) + "=x",
		"a 4 MiB key":                  strings.Repeat("e%6ev", 4<<20/5) + "=A=1",
		"256 malformed 16 KiB keys":    strings.Repeat("%"+strings.Repeat("x", 16<<10)+"=A%3D&", execaudit.MaxEnvEntries),
		"4 MiB of semicolons":          strings.Repeat(";", 4<<20),
	}
	for name, query := range hostile {
		for _, reserved := range []execaudit.Reserved{execaudit.ReservedList, execaudit.ReservedPrefix} {
			t.Run(fmt.Sprintf("EXA-25 %s, reserved %d", name, reserved), func(t *testing.T) {
				got := allocated(func() { _ = execaudit.ReservedInQuery(query, reserved) })
				if got > 128<<10 {
					t.Errorf("ReservedInQuery allocates %d bytes for %d of a query, want at most 128 KiB", got, len(query))
				}
			})
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestReservedInQuery(t *testing.T) {
	const fault = "env[%d].name: Forbidden: KUBERNETES_EXEC_AUDIT_ID is reserved by the API server"
	id := "KUBERNETES_EXEC_AUDIT_ID"
	cases := []struct {
		name, query string
		want        []string
	}{
		{"nothing", "", nil},
		{"others", "command=" + id + "&env=A=" + id, nil},
		{"EXA-25 plain", "env=A=1&env=" + id + "=x", []string{fmt.Sprintf(fault, 1)}},
		{"EXA-25 escaped", "e%6Ev=%4b" + id[1:] + "%3Dx", []string{fmt.Sprintf(fault, 0)}},
		{"EXA-25 without a value", "env=" + id, []string{fmt.Sprintf(fault, 0)}},
		{"EXA-25 behind a semicolon", "a=1;env=" + id + "=x", []string{fmt.Sprintf(fault, 0)}},
		{"EXA-25 unreadable", "env=%zz", []string{"env[0]: Invalid value: must not contain a malformed percent escape"}},
		{"EXA-32 ended by a raw semicolon", "env=A=1;x", []string{"env[0]: Invalid value: must not contain an unescaped semicolon"}},
		{"EXA-32 begun by a raw semicolon", "env=B=1&a=1;env=A=1&b=;", []string{"env[1]: Invalid value: must not contain an unescaped semicolon"}},
		{"semicolons elsewhere", "env=A=1&a=1;b", nil},
		{"EXA-25 under an unreadable key", "%zz=" + id + "=x", []string{fmt.Sprintf(fault, 0)}},
		{"EXA-25 behind 300 others", strings.Repeat("env=A=1&", 300) + "env=" + id + "=x", []string{"env: Too many: 257: must have at most 256 items"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wantFaults(t, execaudit.ReservedInQuery(c.query, execaudit.ReservedList), c.want...)
		})
	}
	t.Run("EXA-25 what url.ParseQuery finds is found", func(t *testing.T) {
		values, err := url.ParseQuery("e%6ev=KUBERNETES%5FX%3D1")
		if err != nil || values.Get("env") != "KUBERNETES_X=1" {
			t.Fatalf("ParseQuery = %v, %v", values, err)
		}
		wantFaults(t, execaudit.ReservedInQuery("e%6ev=KUBERNETES%5FX%3D1", execaudit.ReservedPrefix),
			"env[0].name: Forbidden: KUBERNETES_X is reserved by Kubernetes: it begins with KUBERNETES_")
	})
}
