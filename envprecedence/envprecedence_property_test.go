package envprecedence_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// environs draws environ strings whose names often collide, exactly or in case, at every length that hashing treats
// apart.
func environs() *rapid.Generator[[]string] {
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"A", "a", "B", "PATH", "Path", "EIGHT_CH", "SIXTEEN_CHARS_16", "SIXTEEN_CHARS_17x", "ä", "Ä"}),
		rapid.StringMatching(`[A-Ca-c]{1,3}`),
		rapid.StringMatching(`[AB]{1,40}`),
	)
	value := rapid.OneOf(rapid.SampledFrom([]string{"", "1", "=", "$A", "a=b", "\xff"}), rapid.String())
	entry := rapid.Custom(func(t *rapid.T) string { return name.Draw(t, "name") + "=" + value.Draw(t, "value") })
	return rapid.SliceOfN(entry, 0, 40)
}

// baselines draws container environs, malformed entries among them.
func baselines() *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		bad := rapid.SliceOfN(rapid.SampledFrom([]string{"", "=", "=x", "NOEQUALS"}), 0, 3).Draw(t, "malformed")
		return rapid.Permutation(append(environs().Draw(t, "container"), bad...)).Draw(t, "baseline")
	})
}

func drawTiers(t *rapid.T) envprecedence.Tiers {
	return envprecedence.Tiers{
		Runtime:   environs().Draw(t, "runtime"),
		Kubelet:   environs().Draw(t, "kubelet"),
		APIServer: environs().Draw(t, "apiserver"),
		Caller:    environs().Draw(t, "caller"),
		Container: baselines().Draw(t, "container"),
	}
}

func names(environ []string) []string {
	var all []string
	for _, s := range environ {
		if name, _, found := strings.Cut(s, "="); found && name != "" {
			all = append(all, name)
		}
	}
	return all
}

func lists(t envprecedence.Tiers) [][]string {
	return [][]string{t.Runtime, t.Kubelet, t.APIServer, t.Caller, t.Container}
}

func TestMergeLaws(t *testing.T) {
	law := func(name string, check func(t *rapid.T, tiers envprecedence.Tiers, got []string)) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tiers := drawTiers(t)
				got, _, err := envprecedence.Merge(tiers, envprecedence.PlatformLinux)
				if err != nil {
					t.Fatalf("Merge(%q) errs with %v", tiers, err)
				}
				check(t, tiers, got)
			})
		})
	}
	law("ENV-1 ENV-2 ENV-3 ENV-6 Merge agrees with the model", func(t *rapid.T, tiers envprecedence.Tiers, got []string) {
		if want := model(tiers); !slices.Equal(got, want) {
			t.Fatalf("Merge(%q) = %q, want %q", tiers, got, want)
		}
	})
	law("ENV-4 the keys are the union, each once", func(t *rapid.T, tiers envprecedence.Tiers, got []string) {
		union := map[string]bool{}
		for _, name := range names(slices.Concat(lists(tiers)...)) {
			union[name] = true
		}
		if keys, want := slices.Sorted(slices.Values(names(got))), slices.Sorted(maps.Keys(union)); !slices.Equal(keys, want) {
			t.Fatalf("Merge(%q) has the keys %q, want %q", tiers, keys, want)
		}
	})
	law("ENV-5 each entry is an entry of a tier, byte by byte", func(t *rapid.T, tiers envprecedence.Tiers, got []string) {
		all := slices.Concat(lists(tiers)...)
		for _, s := range got {
			if !slices.Contains(all, s) {
				t.Fatalf("Merge(%q) holds %q, which no tier does", tiers, s)
			}
		}
	})
	law("ENV-4 merging again changes nothing", func(t *rapid.T, tiers envprecedence.Tiers, got []string) {
		again, dropped, err := envprecedence.Merge(envprecedence.Tiers{Caller: got}, envprecedence.PlatformLinux)
		if err != nil || dropped != nil || !slices.Equal(again, got) {
			t.Fatalf("Merge(%q) = %q, %v, %v, want the same", got, again, dropped, err)
		}
	})
	law("ENV-8 the runtime's view of a resolved request is the view of all five tiers", func(t *rapid.T, tiers envprecedence.Tiers, got []string) {
		request, _, err := envprecedence.Merge(
			envprecedence.Tiers{Kubelet: tiers.Kubelet, APIServer: tiers.APIServer, Caller: tiers.Caller}, envprecedence.PlatformLinux)
		if err != nil {
			t.Fatal(err)
		}
		base, _ := envprecedence.Prepare(tiers.Container, envprecedence.PlatformLinux)
		if view, err := base.Merge(tiers.Runtime, request); err != nil || !slices.Equal(view, got) {
			t.Fatalf("the runtime's view of %q is %q, %v, want %q", tiers, view, err, got)
		}
	})
	law("ENV-12 the explanations name the entries of the merge, in its order", func(t *rapid.T, tiers envprecedence.Tiers, got []string) {
		var told []string
		entries := 0
		for _, e := range envprecedence.Explain(tiers, envprecedence.PlatformLinux) {
			told = append(told, lists(tiers)[e.Winner.Tier-envprecedence.TierRuntime][e.Winner.Index])
			entries += 1 + len(e.Shadowed)
		}
		if !slices.Equal(told, got) {
			t.Fatalf("Explain(%q) names %q, want %q", tiers, told, got)
		}
		if want := len(names(slices.Concat(lists(tiers)...))); entries != want {
			t.Fatalf("Explain(%q) accounts for %d entries, want %d", tiers, entries, want)
		}
	})
}

func TestInputLaws(t *testing.T) {
	t.Run("ENV-7 the inputs stay as they are, spare capacity included", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			backing := append(baselines().Draw(t, "entries"), "A=spare", "spare")
			before := slices.Clone(backing)
			shared := backing[:len(backing)-2]
			tiers := envprecedence.Tiers{Container: shared, Caller: shared[:rapid.IntRange(0, len(shared)).Draw(t, "caller")]}
			_, _, _ = envprecedence.Merge(tiers, envprecedence.PlatformLinux)
			base, _ := envprecedence.Prepare(shared, envprecedence.PlatformLinux)
			_, _ = base.Merge(tiers.Caller, shared)
			if !slices.Equal(backing, before) {
				t.Fatalf("after the merges the input reads %q, want %q", backing, before)
			}
		})
	})
	t.Run("ENV-10 what Merge leaves out of a baseline is what it reports", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			container := baselines().Draw(t, "container")
			_, dropped, err := envprecedence.Merge(envprecedence.Tiers{Container: container}, envprecedence.PlatformLinux)
			if want := len(container) - len(names(container)); err != nil || len(dropped) != want {
				t.Fatalf("Merge(%q) dropped %v, %v, want %d entries", container, dropped, err, want)
			}
			_, prepared := envprecedence.Prepare(container, envprecedence.PlatformLinux)
			if !sameFaults(dropped, prepared) {
				t.Fatalf("Prepare(%q) dropped %v, want %v", container, prepared, dropped)
			}
		})
	})
}

func TestWindowsLaws(t *testing.T) {
	upper := func(name string) string { return strings.Map(unicode.ToUpper, name) }
	same := func(a, b string) bool { return upper(a) == upper(b) }
	t.Run("ENV-13 Merge and Prepare agree with the model", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			tiers := drawTiers(t)
			tiers.Kubelet, tiers.APIServer = nil, nil
			want := modelBy(tiers, same)
			if got, _, err := envprecedence.Merge(tiers, envprecedence.PlatformWindows); err != nil || !slices.Equal(got, want) {
				t.Fatalf("Merge(%q) = %q, %v, want %q", tiers, got, err, want)
			}
			base, _ := envprecedence.Prepare(tiers.Container, envprecedence.PlatformWindows)
			if got, err := base.Merge(tiers.Runtime, tiers.Caller); err != nil || !slices.Equal(got, want) {
				t.Fatalf("Prepare(…).Merge(%q) = %q, %v, want %q", tiers, got, err, want)
			}
		})
	})
}

func TestEntryLaws(t *testing.T) {
	t.Run("ENV-10 ENV-11 what Environ accepts, Validate accepts and Parse gives back", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune("AB=\x00ä")), rapid.Rune()))
			entries := rapid.SliceOf(rapid.Custom(func(t *rapid.T) envprecedence.Entry {
				return envprecedence.NewEntry(text.Draw(t, "name"), text.Draw(t, "value"))
			})).Draw(t, "entries")
			environ, err := envprecedence.Environ(entries, 0)
			if err != nil {
				return
			}
			if err := envprecedence.Validate(environ, 0); err != nil {
				t.Fatalf("Validate(%q) = %v, want nil", environ, err)
			}
			if got, err := envprecedence.Parse(environ); err != nil || !slices.EqualFunc(got, entries, envprecedence.Entry.Equal) {
				t.Fatalf("Parse(%q) gives other entries, or errs: %v", environ, err)
			}
		})
	})
	t.Run("ENV-11 an entry is refused exactly when it breaks a rule", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			name := rapid.StringMatching(`[A=\x00]{0,3}`).Draw(t, "name")
			value := rapid.StringMatching(`[A=\x00]{0,3}`).Draw(t, "value")
			_, err := envprecedence.Environ([]envprecedence.Entry{envprecedence.NewEntry(name, value)}, 0)
			broken := name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00")
			var fault *envprecedence.EntryError
			if (err != nil) != broken || broken && !errors.As(err, &fault) {
				t.Fatalf("Environ(%q, %q) = %v, want a fault: %v", name, value, err, broken)
			}
		})
	})
}

func TestResolveLaws(t *testing.T) {
	entries := func(t *rapid.T, environ []string) []envprecedence.Entry {
		parsed, err := envprecedence.Parse(environ)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	upper := func(s string) string { return strings.ToUpper(s) }
	for name, c := range map[string]struct {
		key  func(string) string
		same func(a, b string) bool
	}{
		"byte by byte":   {nil, func(a, b string) bool { return a == b }},
		"under some key": {upper, func(a, b string) bool { return upper(a) == upper(b) }},
	} {
		t.Run("ENV-2 ENV-3 ENV-4 Resolve keeps of entries what the model keeps of environ strings, "+name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tiers := drawTiers(t)
				tiers.Container = environs().Draw(t, "well-formed container")
				lists := [][]envprecedence.Entry{
					entries(t, tiers.Runtime), entries(t, tiers.Kubelet), entries(t, tiers.APIServer), entries(t, tiers.Caller), entries(t, tiers.Container),
				}
				before := slices.Clone(lists[3])
				got := envprecedence.Resolve(c.key, lists...)
				if want := entries(t, modelBy(tiers, c.same)); !slices.EqualFunc(got, want, envprecedence.Entry.Equal) {
					t.Fatalf("Resolve = %v, want %v, or other values", got, want)
				}
				if again := envprecedence.Resolve(c.key, got); !slices.EqualFunc(again, got, envprecedence.Entry.Equal) {
					t.Fatalf("Resolve of its result = %v, want %v", again, got)
				}
				if !slices.EqualFunc(lists[3], before, envprecedence.Entry.Equal) {
					t.Fatal("an input changed")
				}
			})
		})
	}
}
