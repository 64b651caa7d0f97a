package attribution_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

func TestFloods(t *testing.T) {
	const bound = 1 << 20
	for name, flood := range map[string]func(int) attribution.Event{
		"containers": func(i int) attribution.Event {
			e := first("", 10, 100)
			e.ContainerID = fmt.Sprintf("%020d", i)[8:]
			return e
		},
		"containers with long names of their own": func(i int) attribution.Event {
			e := first("", 10, 100)
			e.ContainerID, e.Pod = fmt.Sprintf("%012d", i), fmt.Sprintf("%01000d", i)
			return e
		},
		"nodes": func(i int) attribution.Event {
			e := first("", 10, 100)
			e.Node = fmt.Sprintf("node-%d", i)
			return e
		},
		"containers of the far future": func(i int) attribution.Event {
			e := first("", 10, 100)
			e.ContainerID, e.Time = fmt.Sprintf("%012d", i), dawn.Add(24*365*time.Hour)
			return e
		},
		"boots": func(i int) attribution.Event {
			e := first("", 10, 100)
			e.Process.BootID, e.SessionID = fmt.Sprintf("boot-%d", i), 7
			return e
		},
	} {
		t.Run("ATT-6 a flood of "+name+" stays within the bound", func(t *testing.T) {
			m := attribution.New(attribution.Options{MaxBytes: bound}, ignore)
			before := live()
			for i := range 20_000 {
				e := flood(i)
				m.AddEvent(&e)
			}
			s := m.Stats()
			if heap := live(); s.Bytes > bound || heap > before+4*bound {
				t.Errorf("%d bytes counted, %d in the heap before, %d now, bound %d; %+v", s.Bytes, before, heap, bound, s)
			}
			m.Flush()
			state := saved(t, m)
			if _, err := attribution.Restore(bytes.NewReader(state), attribution.Options{}, ignore); err != nil {
				t.Error(err)
			}
		})
	}
}
