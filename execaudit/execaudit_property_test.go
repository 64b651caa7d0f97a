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
