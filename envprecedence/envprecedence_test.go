package envprecedence_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// mergeCase is one merge with its expected environment.
type mergeCase struct {
	name  string
	tiers envprecedence.Tiers
	want  []string
}

var mergeCases = []mergeCase{
	{
		"ENV-1 runtime over kubelet over API server over caller over container",
		envprecedence.Tiers{
			Runtime:   []string{"A=runtime"},
			Kubelet:   []string{"A=kubelet", "B=kubelet"},
			APIServer: []string{"A=apiserver", "B=apiserver", "C=apiserver"},
			Caller:    []string{"A=caller", "B=caller", "C=caller", "D=caller"},
			Container: []string{"A=container", "B=container", "C=container", "D=container", "E=container"},
		},
		[]string{"A=runtime", "B=kubelet", "C=apiserver", "D=caller", "E=container"},
	},
	{
		"ENV-2 a key in several tiers takes the value of the highest",
		envprecedence.Tiers{
			APIServer: []string{"KUBERNETES_EXEC_AUDIT_ID=real"},
			Caller:    []string{"KUBERNETES_EXEC_AUDIT_ID=forged"},
			Container: []string{"KUBERNETES_EXEC_AUDIT_ID=baked"},
		},
		[]string{"KUBERNETES_EXEC_AUDIT_ID=real"},
	},
	{
		"ENV-3 the last entry of a tier wins, at its own place",
		envprecedence.Tiers{Caller: []string{"A=1", "B=2", "A=3"}, Container: []string{"C=1", "C=2", "B=0"}},
		[]string{"B=2", "A=3", "C=2"},
	},
	{
		"ENV-4 each key once, though the baseline holds it twice",
		envprecedence.Tiers{Caller: []string{"A=3"}, Container: []string{"A=1", "A=2", "a=4"}},
		[]string{"A=3", "a=4"},
	},
	{
		"ENV-5 values are literal in every tier",
		envprecedence.Tiers{
			Runtime:   []string{"R=$FOO"},
			Kubelet:   []string{"K=${FOO}"},
			APIServer: []string{"S=$(FOO)"},
			Caller:    []string{"FOO=bar", "C=%FOO% `id` ~ \"x\" 'y'\nsecond line\\"},
			Container: []string{"B=$FOO:${FOO}", "U=\xff\xfe"},
		},
		[]string{
			"R=$FOO", "K=${FOO}", "S=$(FOO)", "FOO=bar", "C=%FOO% `id` ~ \"x\" 'y'\nsecond line\\", "B=$FOO:${FOO}", "U=\xff\xfe",
		},
	},
	{
		"ENV-6 the order is runtime, kubelet, API server, caller, container, each in its own order",
		envprecedence.Tiers{
			Container: []string{"Z=1", "SHARED=1", "Y=1"},
			Caller:    []string{"X=1", "SHARED=2"},
			APIServer: []string{"W=1", "V=1"},
			Kubelet:   []string{"U=1"},
			Runtime:   []string{"T=1"},
		},
		[]string{"T=1", "U=1", "W=1", "V=1", "X=1", "SHARED=2", "Z=1", "Y=1"},
	},
	{
		"ENV-9 an empty value is kept and overrides",
		envprecedence.Tiers{Caller: []string{"A="}, Container: []string{"A=1", "B="}},
		[]string{"A=", "B="},
	},
	{
		"ENV-10 a value may hold an equals sign",
		envprecedence.Tiers{Caller: []string{"A=b=c", "D==e"}, Container: []string{"A=x=y", "OPTS=-Dk=v -Dl=w"}},
		[]string{"A=b=c", "D==e", "OPTS=-Dk=v -Dl=w"},
	},
	{"ENV-4 no tiers, no environment", envprecedence.Tiers{}, nil},
}

func TestMerge(t *testing.T) {
	for _, c := range mergeCases {
		t.Run(c.name, func(t *testing.T) {
			got, dropped, err := envprecedence.Merge(c.tiers, envprecedence.PlatformLinux)
			if err != nil || dropped != nil || !slices.Equal(got, c.want) {
				t.Errorf("Merge(…) = %q, %v, %v, want %q", got, dropped, err, c.want)
			}
		})
	}
	t.Run("ENV-6 the audit ID stands inside the first 4 KiB whatever the caller and the container hold", func(t *testing.T) {
		tiers := envprecedence.Tiers{APIServer: []string{"KUBERNETES_EXEC_AUDIT_ID=f4a3"}}
		for i := range 500 {
			tiers.Caller = append(tiers.Caller, fmt.Sprintf("CALLER_%d=some value", i))
			tiers.Container = append(tiers.Container, fmt.Sprintf("CONTAINER_%d=some value", i))
		}
		got, _, err := envprecedence.Merge(tiers, envprecedence.PlatformLinux)
		block := strings.Join(got, "\x00")
		if at := strings.Index(block, "KUBERNETES_EXEC_AUDIT_ID=f4a3\x00"); err != nil || at < 0 || at > 4<<10 {
			t.Errorf("Merge(…), %v: the audit ID stands at byte %d, want it within %d", err, at, 4<<10)
		}
	})
}

// sameFaults says whether the faults are those wanted, which hold no more than tier, index and rule.
func sameFaults(got, want []*envprecedence.EntryError) bool {
	return slices.EqualFunc(got, want, func(a, b *envprecedence.EntryError) bool { return *a == *b })
}

func TestMalformedBaseline(t *testing.T) {
	container := []string{"A=1", "NOEQUALS", "B=2", "=x", "", "A=3"}
	wantDropped := []*envprecedence.EntryError{
		{Tier: envprecedence.TierContainer, Index: 1, Err: envprecedence.ErrNoEquals},
		{Tier: envprecedence.TierContainer, Index: 3, Err: envprecedence.ErrEmptyName},
		{Tier: envprecedence.TierContainer, Index: 4, Err: envprecedence.ErrNoEquals},
	}
	t.Run("ENV-10 a baseline entry without equals sign or name is dropped and reported", func(t *testing.T) {
		got, dropped, err := envprecedence.Merge(envprecedence.Tiers{Container: container}, envprecedence.PlatformLinux)
		if want := []string{"B=2", "A=3"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(%q) = %q, %v, want %q", container, got, err, want)
		}
		if !sameFaults(dropped, wantDropped) {
			t.Errorf("Merge(%q) dropped %v, want %v", container, dropped, wantDropped)
		}
	})
	t.Run("ENV-10 preparing drops and reports the same", func(t *testing.T) {
		base, dropped := envprecedence.Prepare(container, envprecedence.PlatformLinux)
		got, err := base.Merge(nil, nil)
		if want := []string{"B=2", "A=3"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Prepare(%q) merges to %q, %v, want %q", container, got, err, want)
		}
		if !sameFaults(dropped, wantDropped) {
			t.Errorf("Prepare(%q) dropped %v, want %v", container, dropped, wantDropped)
		}
	})
	t.Run("ENV-10 an entry without equals sign unsets nothing", func(t *testing.T) {
		got, _, err := envprecedence.Merge(envprecedence.Tiers{Container: []string{"A=1", "A"}}, envprecedence.PlatformLinux)
		if want := []string{"A=1"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %q, %v, want %q", got, err, want)
		}
	})
	t.Run("ENV-10 a report does not quote the entry, which may be a secret", func(t *testing.T) {
		_, dropped := envprecedence.Prepare([]string{"hunter2"}, envprecedence.PlatformLinux)
		if text := fmt.Sprintf("%v %+v %#v", dropped[0], dropped[0], *dropped[0]); strings.Contains(text, "hunter2") {
			t.Errorf("the report reads %q, want no part of the entry", text)
		}
	})
}

func TestMalformedInjected(t *testing.T) {
	for tier, tiers := range map[envprecedence.Tier]func(bad []string) envprecedence.Tiers{
		envprecedence.TierRuntime:   func(bad []string) envprecedence.Tiers { return envprecedence.Tiers{Runtime: bad} },
		envprecedence.TierKubelet:   func(bad []string) envprecedence.Tiers { return envprecedence.Tiers{Kubelet: bad} },
		envprecedence.TierAPIServer: func(bad []string) envprecedence.Tiers { return envprecedence.Tiers{APIServer: bad} },
		envprecedence.TierCaller:    func(bad []string) envprecedence.Tiers { return envprecedence.Tiers{Caller: bad} },
	} {
		t.Run("ENV-11 a malformed entry is refused, the first of its tier, "+tier.String(), func(t *testing.T) {
			got, _, err := envprecedence.Merge(tiers([]string{"A=1", "=x", "NOEQUALS"}), envprecedence.PlatformLinux)
			wantFault(t, got, err, envprecedence.EntryError{Tier: tier, Index: 1, Err: envprecedence.ErrEmptyName})
		})
	}
	base, _ := envprecedence.Prepare([]string{"A=1"}, envprecedence.PlatformLinux)
	t.Run("ENV-11 a malformed entry of a request is refused", func(t *testing.T) {
		got, err := base.Merge(nil, []string{"B=1", "NOEQUALS"})
		wantFault(t, got, err, envprecedence.EntryError{Tier: envprecedence.TierRequest, Index: 1, Err: envprecedence.ErrNoEquals})
	})
	t.Run("ENV-11 a malformed entry of the runtime is refused", func(t *testing.T) {
		got, err := base.Merge([]string{"NOEQUALS"}, []string{"B=1"})
		wantFault(t, got, err, envprecedence.EntryError{Tier: envprecedence.TierRuntime, Index: 0, Err: envprecedence.ErrNoEquals})
	})
}

// wantFault fails unless there is no environment and the error is the wanted one.
func wantFault(t *testing.T, environ []string, err error, want envprecedence.EntryError) {
	t.Helper()
	var got *envprecedence.EntryError
	if environ != nil || !errors.As(err, &got) || *got != want {
		t.Errorf("Merge(…) = %q, %v, want no environment and %v", environ, err, &want)
	}
	if !errors.Is(err, want.Err) {
		t.Errorf("Merge(…) errs with %v, want it to wrap %v", err, want.Err)
	}
}
