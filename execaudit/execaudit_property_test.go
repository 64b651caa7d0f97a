package execaudit_test

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func anyEnv() *rapid.Generator[env] {
	return rapid.Custom(func(t *rapid.T) env {
		return envprecedence.NewEntry(
			rapid.OneOf(rapid.StringMatching(`[A-C]{1,2}`), rapid.String(), rapid.Just(execaudit.AuditIDName)).Draw(t, "name"),
			rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "value"),
		)
	})
}

func TestQueryLaws(t *testing.T) {
	t.Run("EXA-32 what encodes decodes to itself, by our decoder and by net/url's", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			envs := rapid.SliceOfN(anyEnv(), 1, 8).Draw(t, "envs")
			query, err := execaudit.EncodeQuery(envs)
			if err != nil {
				t.Skip("not encodable")
			}
			if got, faults := execaudit.DecodeQuery(query, execaudit.Limits{}); !reflect.DeepEqual(got, envs) {
				t.Fatalf("DecodeQuery(%q) = %q, %v, want %q", query, environ(got), faults, environ(envs))
			}
			values, err := url.ParseQuery(query)
			if got, want := values[execaudit.QueryParam], environ(envs); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("ParseQuery(%q) = %q, %v, want %q", query, got, err, want)
			}
		})
	})
	t.Run("what decodes is what net/url finds", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			query := rapid.StringMatching(`((env|e%6ev|a|%z)?=?[A-C=%41+]{0,6}[&;]?){0,6}`).Draw(t, "query")
			checkAgainstNetURL(t, query)
		})
	})
}

// checkAgainstNetURL holds what DecodeQuery accepts equal to what the standard
// library's parser hands to a kubelet.
func checkAgainstNetURL(t interface{ Fatalf(string, ...any) }, query string) {
	envs, err := execaudit.DecodeQuery(query, execaudit.Limits{})
	if err != nil {
		return
	}
	values, _ := url.ParseQuery(query)
	want := values[execaudit.QueryParam]
	if got := environ(envs); len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("DecodeQuery(%q) = %q, net/url finds %q", query, got, want)
	}
}

func TestValuesLaws(t *testing.T) {
	t.Run("EXA-32 what net/url reads without an error decodes to the same entries and faults", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			query := rapid.StringMatching(`((env|e%6ev|a|%zz)?=?([A-C=+]|%41|%3D|%00|%ff|%4|;|ü){0,6}&?){0,6}`).Draw(t, "query")
			limits := execaudit.Limits{Entries: rapid.IntRange(0, 4).Draw(t, "entries"), Bytes: rapid.IntRange(0, 9).Draw(t, "bytes")}
			checkValues(t, query, limits)
		})
	})
	t.Run("EXA-32 any values, as if they had been sent", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			values := url.Values{execaudit.QueryParam: rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[AB]{0,2}=[\x00é]{0,3}`)), 0, 6).Draw(t, "env"), "command": {"env"}}
			checkValues(t, values.Encode(), execaudit.Limits{})
		})
	})
}

// checkValues holds what DecodeValues reads equal to what DecodeQuery does, wherever net/url saw all of it.
func checkValues(t interface{ Fatalf(string, ...any) }, query string, limits execaudit.Limits) {
	values, err := url.ParseQuery(query)
	if err != nil || strings.ContainsFunc(query, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return
	}
	want, wantErr := execaudit.DecodeQuery(query, limits)
	got, err := execaudit.DecodeValues(values, limits)
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("%q: DecodeValues = %q, %v, DecodeQuery has %q, %v", query, environ(got), err, environ(want), wantErr)
	}
}

func TestReservedLaws(t *testing.T) {
	t.Run("EXA-25 names are judged as if each parameter were decoded as a whole", func(t *testing.T) {
		name := rapid.SampledFrom([]string{"KUBERNETES_EXEC_AUDIT_ID", "kubernetes_Exec_Audit_Id", "KUBERNETES_X", "KUBERNETES%5fX", "KUBERNETES", "%4bUBERNETES_" + strings.Repeat("Y", 80), "A+B", "", strings.Repeat("N%4e", 40)})
		rest := rapid.SampledFrom([]string{"", "=x", "%3Dx", "%3dKUBERNETES_EXEC_AUDIT_ID=", "=%zz", "+=1", "=;x", "%3D+"})
		key := rapid.SampledFrom([]string{"env", "e%6Ev", "%zz", "command", "", "ENV"})
		rapid.Check(t, func(t *rapid.T) {
			var parts []string
			for range rapid.IntRange(0, 5).Draw(t, "parameters") {
				parts = append(parts, key.Draw(t, "key")+"="+name.Draw(t, "name")+rest.Draw(t, "rest"))
			}
			query := strings.Join(parts, rapid.SampledFrom([]string{"&", ";", "&;"}).Draw(t, "separator"))
			reserved := rapid.SampledFrom([]execaudit.Reserved{execaudit.ReservedList, execaudit.ReservedPrefix}).Draw(t, "reserved")
			var got []string
			for _, fault := range execaudit.FaultsOf(execaudit.ReservedInQuery(query, reserved)) {
				got = append(got, fault.Error())
			}
			if want := reservedInQuery(query, reserved); !reflect.DeepEqual(got, want) {
				t.Fatalf("ReservedInQuery(%q) = %q, want %q", query, got, want)
			}
		})
	})
}

// reservedInQuery is the slow and obvious ReservedInQuery, for queries within the limit.
func reservedInQuery(query string, reserved execaudit.Reserved) (faults []string) {
	i := 0
	for segment := range strings.SplitSeq(query, "&") {
		for parameter := range strings.SplitSeq(segment, ";") {
			key, value, _ := strings.Cut(parameter, "=")
			if key, err := url.QueryUnescape(key); err == nil && key != execaudit.QueryParam {
				continue
			}
			text, err := url.QueryUnescape(value)
			name, _, _ := strings.Cut(text, "=")
			switch reason := reserved.Reason(name); {
			case err != nil:
				faults = append(faults, fmt.Sprintf("env[%d]: Invalid value: must not contain a malformed percent escape", i))
			case reason != "":
				faults = append(faults, fmt.Sprintf("env[%d].name: Forbidden: %s", i, reason))
			case strings.Contains(segment, ";"):
				faults = append(faults, fmt.Sprintf("env[%d]: Invalid value: must not contain an unescaped semicolon", i))
			}
			i++
		}
	}
	return faults
}

var namePattern = regexp.MustCompile(`\A(?:` + execaudit.NamePattern + `)\z`)

// acceptable is the KEP's section Validation, read aloud.
func acceptable(envs []env, reserved execaudit.Reserved) bool {
	size, seen := 0, map[string]bool{}
	for _, e := range envs {
		upper := strings.ToUpper(e.Name)
		if !namePattern.MatchString(e.Name) || seen[e.Name] ||
			strings.Contains(e.Value.Reveal(), "\x00") || !utf8.ValidString(e.Value.Reveal()) ||
			upper == "KUBERNETES_EXEC_AUDIT_ID" ||
			reserved == execaudit.ReservedPrefix && strings.HasPrefix(upper, "KUBERNETES_") {
			return false
		}
		seen[e.Name] = true
		size += len(e.Name) + len(e.Value.Reveal())
	}
	return len(envs) <= 256 && size <= 32*1024
}

func TestValidateLaws(t *testing.T) {
	reserved := rapid.SampledFrom([]execaudit.Reserved{execaudit.ReservedList, execaudit.ReservedPrefix})
	t.Run("EXA-2 EXA-4 EXA-7 EXA-8 accepts what an obvious model accepts", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			envs := rapid.SliceOfN(anyEnv(), 0, 6).Draw(t, "envs")
			profile := reserved.Draw(t, "reserved")
			faults := execaudit.Validate(envs, profile)
			if got, want := faults == nil, acceptable(envs, profile); got != want {
				t.Fatalf("Validate(%q) = %v, want accepted: %t", environ(envs), faults, want)
			}
		})
	})
	t.Run("EXA-9 each entry has the faults it has alone, but for duplicates and sums", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			envs := rapid.SliceOfN(anyEnv(), 0, 6).Draw(t, "envs")
			var want []string
			for i := range envs {
				for _, fault := range execaudit.FaultsOf(execaudit.Validate(envs[i:i+1], 0)) {
					want = append(want, strings.Replace(fault.Error(), "env[0]", fmt.Sprintf("env[%d]", i), 1))
				}
			}
			var got []string
			for _, fault := range execaudit.FaultsOf(execaudit.Validate(envs, 0)) {
				if fault.Kind != execaudit.FaultDuplicate {
					got = append(got, fault.Error())
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("Validate = %q, want %q", got, want)
			}
		})
	})
	t.Run("the order of entries does not decide", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			envs := rapid.SliceOfN(anyEnv(), 0, 6).Draw(t, "envs")
			shuffled := rapid.Permutation(envs).Draw(t, "shuffled")
			if a, b := execaudit.Validate(envs, 0), execaudit.Validate(shuffled, 0); (a == nil) != (b == nil) {
				t.Fatalf("Validate = %v, shuffled %v", a, b)
			}
		})
	})
}

func TestAssignmentLaws(t *testing.T) {
	t.Run("EXA-24 what parses is NAME, '=' and the rest", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringMatching(`[A-Z=, ]{0,9}`).Draw(t, "text")
			e, err := execaudit.ParseAssignment(text)
			if err == nil && (e.Name+"="+e.Value.Reveal() != text || strings.Contains(e.Name, "=")) {
				t.Fatalf("ParseAssignment(%q) = name %q, value %q", text, e.Name, e.Value.Reveal())
			}
			if want := strings.IndexByte(text, '=') > 0; (err == nil) != want {
				t.Fatalf("ParseAssignment(%q) = %v, want accepted: %t", text, err, want)
			}
		})
	})
}
