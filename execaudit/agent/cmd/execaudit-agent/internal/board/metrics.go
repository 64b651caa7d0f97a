package board

import (
	"github.com/prometheus/client_golang/prometheus"
)

// what a scrape tells, each from the status of that moment.
var (
	events    = desc("events_total", "Events written, by what happened.", "kind")
	runtime   = desc("runtime_events_total", "Events of these that are of the runtime's own processes.")
	lost      = desc("lost_events_total", "Events that are missing, at most, by why.", "reason")
	gaps      = desc("gaps_total", "How often events were missing, an unknown number included.")
	forged    = desc("forged_marks_total", "Marks of the sessions' range that no record of the node has.")
	sessions  = desc("sessions", "Sessions with a process that is alive.")
	processes = desc("processes", "Processes of sessions that are alive.")
	held      = desc("held_events", "Events that wait for their session's record.")
	ringSize  = desc("ring_bytes", "The size of the kernel's buffer.")
	ringUsed  = desc("ring_used_bytes", "What of the kernel's buffer is not read yet.")
	mode      = desc("mode", "1 for how the agent sees processes.", "mode")
	faulty    = desc("faults", "What is wrong now, as `status` tells it: 0 is well.")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("lanyard_agent_"+name, help, labels, nil)
}

// Describe sends the metrics' descriptions.
func (b *Board) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		events, runtime, lost, gaps, forged, sessions, processes, held, ringSize, ringUsed, mode, faulty,
	} {
		out <- d
	}
}

// Collect sends the metrics as they are now.
func (b *Board) Collect(out chan<- prometheus.Metric) {
	s := b.Status()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	for _, kind := range []string{"fork", "exec", "exit"} {
		send(events, prometheus.CounterValue, float64(s.Events[kind]), kind)
	}
	for reason, n := range s.Lost {
		send(lost, prometheus.CounterValue, float64(n), reason)
	}
	send(runtime, prometheus.CounterValue, float64(s.Runtime))
	send(gaps, prometheus.CounterValue, float64(s.Gaps))
	send(forged, prometheus.CounterValue, float64(s.Forged))
	send(sessions, prometheus.GaugeValue, float64(s.Sessions))
	send(processes, prometheus.GaugeValue, float64(s.Processes))
	send(held, prometheus.GaugeValue, float64(s.Held))
	send(ringSize, prometheus.GaugeValue, float64(s.RingBytes))
	send(ringUsed, prometheus.GaugeValue, float64(s.RingUsed))
	if s.Mode != "" {
		send(mode, prometheus.GaugeValue, 1, s.Mode)
	}
	send(faulty, prometheus.GaugeValue, float64(len(s.Faults(b.options.Now()))))
}
