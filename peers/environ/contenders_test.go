package environ_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/moby/moby/v2/daemon/container"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// contender merges overrides into the environment of a container. Preparation is what may happen once per container.
type contender struct {
	name    string
	prepare func(tb testing.TB, base []string) merge
}

// merge returns the environment of one exec.
type merge func(overrides []string) []string

func unprepared(tb testing.TB, base []string) merge {
	return func(overrides []string) []string {
		environ, _, err := envprecedence.Merge(envprecedence.Tiers{Caller: overrides, Container: base}, envprecedence.PlatformLinux)
		if err != nil {
			tb.Fatal(err)
		}
		return environ
	}
}

func prepared(tb testing.TB, base []string) merge {
	baseline, _ := envprecedence.Prepare(base, envprecedence.PlatformLinux)
	return func(overrides []string) []string {
		environ, err := baseline.Merge(nil, overrides)
		if err != nil {
			tb.Fatal(err)
		}
		return environ
	}
}

func containerd(tb testing.TB, base []string) merge {
	spec := &oci.Spec{Process: &specs.Process{}}
	return func(overrides []string) []string {
		spec.Process.Env = base
		if err := oci.WithEnv(overrides)(tb.Context(), nil, nil, spec); err != nil {
			tb.Fatal(err)
		}
		return spec.Process.Env
	}
}

// moby edits the baseline in place, so it gets its own; being clipped, it does not grow from one exec to the next.
func moby(_ testing.TB, base []string) merge {
	own := slices.Clip(slices.Clone(base))
	return func(overrides []string) []string {
		return container.ReplaceOrAppendEnvValues(own, overrides)
	}
}

// naive is what one writes first: a map, and the order it happens to have.
func naive(_ testing.TB, base []string) merge {
	return func(overrides []string) []string {
		values := make(map[string]string, len(base)+len(overrides))
		for _, list := range [][]string{base, overrides} {
			for _, s := range list {
				name, value, _ := strings.Cut(s, "=")
				values[name] = value
			}
		}
		environ := make([]string, 0, len(values))
		for name, value := range values {
			environ = append(environ, name+"="+value)
		}
		return environ
	}
}
