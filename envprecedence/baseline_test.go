package envprecedence_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

func TestRuntimeView(t *testing.T) {
	container := []string{"PATH=/bin", "TERM=xterm", "LOG_LEVEL=info"}
	base, _ := envprecedence.Prepare(container, envprecedence.PlatformLinux)
	t.Run("ENV-8 the request beats the baseline and loses to the runtime", func(t *testing.T) {
		got, err := base.Merge([]string{"NOTIFY_FD=3"}, []string{"LOG_LEVEL=debug", "NOTIFY_FD=9", "NEW=1"})
		want := []string{"NOTIFY_FD=3", "LOG_LEVEL=debug", "NEW=1", "PATH=/bin", "TERM=xterm"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %q, %v, want %q", got, err, want)
		}
	})
	t.Run("ENV-8 an exec without entries has the baseline's environment", func(t *testing.T) {
		got, err := base.Merge(nil, nil)
		if err != nil || !slices.Equal(got, container) {
			t.Errorf("Merge(nil, nil) = %q, %v, want %q", got, err, container)
		}
	})
	t.Run("ENV-3 ENV-8 the last entry of a request wins", func(t *testing.T) {
		got, err := base.Merge(nil, []string{"A=1", "TERM=dumb", "A=2"})
		want := []string{"TERM=dumb", "A=2", "PATH=/bin", "LOG_LEVEL=info"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %q, %v, want %q", got, err, want)
		}
	})
	t.Run("ENV-5 ENV-8 ENV-9 literal and empty values of a request", func(t *testing.T) {
		got, err := base.Merge(nil, []string{"FOO=bar", "BAZ=$FOO", "BAY=${FOO}", "BAX=%FOO%", "PATH="})
		want := []string{"FOO=bar", "BAZ=$FOO", "BAY=${FOO}", "BAX=%FOO%", "PATH=", "TERM=xterm", "LOG_LEVEL=info"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %q, %v, want %q", got, err, want)
		}
	})
	t.Run("ENV-4 ENV-8 of nothing comes an environment that is empty and not nil", func(t *testing.T) {
		none, _ := envprecedence.Prepare(nil, envprecedence.PlatformLinux)
		if got, err := none.Merge(nil, nil); err != nil || got == nil || len(got) != 0 {
			t.Errorf("Prepare(nil).Merge(nil, nil) = %#v, %v, want []string{}", got, err)
		}
		got, _, err := envprecedence.Merge(envprecedence.Tiers{Container: []string{"NOEQUALS"}}, envprecedence.PlatformLinux)
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("Merge(…) = %#v, %v, want []string{}", got, err)
		}
	})
	t.Run("ENV-8 a zero baseline is an empty one", func(t *testing.T) {
		var zero envprecedence.Baseline
		got, err := zero.Merge([]string{"B=1"}, []string{"A=1", "B=2"})
		if want := []string{"B=1", "A=1"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) = %q, %v, want %q", got, err, want)
		}
	})
	t.Run("ENV-4 more entries than the tables on the stack take", func(t *testing.T) {
		container, request := sizes(5000, 1000)
		base, _ := envprecedence.Prepare(container, envprecedence.PlatformLinux)
		got, err := base.Merge(nil, request)
		if want := model(envprecedence.Tiers{Caller: request, Container: container}); err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(…) has %d entries, %v, want the %d of the model", len(got), err, len(want))
		}
	})
}

func TestInputsStay(t *testing.T) {
	t.Run("ENV-7 the spare capacity of an input is not written to", func(t *testing.T) {
		backing := []string{"A=1", "B=2", "beyond"}
		request := backing[:2]
		base, _ := envprecedence.Prepare(request, envprecedence.PlatformLinux)
		if _, err := base.Merge(request, request); err != nil {
			t.Fatal(err)
		}
		if _, _, err := envprecedence.Merge(envprecedence.Tiers{Runtime: request, Caller: request}, envprecedence.PlatformLinux); err != nil {
			t.Fatal(err)
		}
		if want := []string{"A=1", "B=2", "beyond"}; !slices.Equal(backing, want) {
			t.Errorf("after the merges the input reads %q, want %q", backing, want)
		}
	})
	t.Run("ENV-7 a result shares nothing with the baseline, nor the baseline with its source", func(t *testing.T) {
		source := []string{"A=1", "B=2"}
		base, _ := envprecedence.Prepare(source, envprecedence.PlatformLinux)
		source[0] = "A=changed"
		first, _ := base.Merge(nil, nil)
		first[1] = "B=changed"
		_ = append(first[:1], "C=appended")
		got, err := base.Merge(nil, nil)
		if want := []string{"A=1", "B=2"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Merge(nil, nil) = %q, %v, want %q", got, err, want)
		}
	})
	t.Run("ENV-7 one baseline serves many execs at once", func(t *testing.T) {
		container, _ := sizes(100, 0)
		base, _ := envprecedence.Prepare(container, envprecedence.PlatformLinux)
		var execs sync.WaitGroup
		for id := range 16 {
			execs.Go(func() {
				request := []string{fmt.Sprintf("KUBERNETES_EXEC_AUDIT_ID=%d", id), container[id]}
				want := append(slices.Clone(request), slices.Delete(slices.Clone(container), id, id+1)...)
				for range 100 {
					if got, err := base.Merge(nil, request); err != nil || !slices.Equal(got, want) {
						t.Errorf("exec %d: Merge(…) = %q, %v, want %q", id, got, err, want)
						return
					}
				}
			})
		}
		execs.Wait()
	})
}

func TestAllocations(t *testing.T) {
	for _, size := range [][2]int{{10, 1}, {50, 10}, {2048, 1}, {2048, 256}} {
		t.Run(fmt.Sprintf("ENV-8 one allocation for %d entries over %d", size[1], size[0]), func(t *testing.T) {
			container, request := sizes(size[0], size[1])
			base, _ := envprecedence.Prepare(container, envprecedence.PlatformLinux)
			got := testing.AllocsPerRun(100, func() {
				if _, err := base.Merge(nil, request); err != nil {
					t.Error(err)
				}
			})
			if got > 1 {
				t.Errorf("Merge(…) allocates %v times, want once", got)
			}
		})
	}
}
