package transport

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
)

func TestPlannedRefresh(t *testing.T) {
	for name, c := range map[string]struct {
		proactive bool
		mode      execcredential.InteractiveMode
		want      bool
	}{
		"with the option a refresh is planned":                      {true, execcredential.InteractiveNever, true},
		"without it none is":                                        {false, execcredential.InteractiveNever, false},
		"none is for a plugin that is always interactive":           {true, execcredential.InteractiveAlways, false},
		"one is for a plugin that may do without standard input":    {true, execcredential.InteractiveIfAvailable, true},
		"without the option none is for one that may do without it": {false, execcredential.InteractiveIfAvailable, false},
	} {
		t.Run("ECR-20 "+name, func(t *testing.T) {
			pool, err := NewPool(Options{Proactive: c.proactive})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			s := newShared(pool, execcredential.ExecConfig{InteractiveMode: c.mode}, nil)
			defer s.retire()
			now := time.Now()
			s.mu.Lock()
			s.state = s.state.succeeded(now, token(t, now.Add(time.Hour)), 0)
			s.schedule(now)
			planned := s.timer != nil
			s.mu.Unlock()
			if planned != c.want {
				t.Errorf("a refresh is planned: %t, want %t", planned, c.want)
			}
		})
	}
}
