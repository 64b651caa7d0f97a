package readiness_test

import (
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

func ExampleLease_Covers() {
	active := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	lease := &readiness.Lease{
		Readiness: readiness.Readiness{
			Keys:     []string{"k1"},
			Handlers: map[string]readiness.Handler{"": {Since: active, Mode: readiness.ModeDropIn}},
		},
		Renewed:  active.Add(time.Hour),
		Duration: 40 * time.Second,
	}
	now := active.Add(time.Hour)
	before, after := active.Add(-time.Minute), active.Add(time.Minute)

	fmt.Println(lease.Covers(readiness.Container{PodStarted: after, Started: after}, []string{"k2", "k1"}, now))
	fmt.Println(lease.Covers(readiness.Container{PodStarted: before, Started: after}, []string{"k2", "k1"}, now))
	// Output:
	// k1 <nil>
	//  the container is older than the wrapper
}
