package board

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

// what a scrape tells, each from the status of that moment.
var (
	events    = desc("events_total", "Events written, by what happened.", "kind")
	runtime   = desc("runtime_events_total", "Events of these that are of the runtime's own processes.")
	lost      = desc("lost_events_total", "Events that are missing, at most, by why.", "reason")
	notices   = desc("notices_total", "Notices written, by what they tell: forged marks, marks that were left, losses.", "notice")
	sessions  = desc("sessions", "Sessions with a process that is alive.")
	processes = desc("processes", "Processes of sessions that are alive.")
	held      = desc("held_events", "Events that wait for their session's record.")
	evicted   = desc("evicted_total", "Sessions and processes that were forgotten before their end, since there were too many.")
	waiting   = desc("waiting_bytes", "What waits to be written.")
	ringSize  = desc("ring_bytes", "The size of the kernel's buffer.")
	mode      = desc("mode", "1 for how the agent sees processes.", "mode")
	faulty    = desc("faults", "What is wrong now, as `status` tells it: 0 is well.")
)

// noticeKinds are those that are counted.
var noticeKinds = []agent.NoticeKind{
	agent.NoticeStart, agent.NoticeStop, agent.NoticeLost, agent.NoticeForged, agent.NoticeConflict, agent.NoticeLeft, agent.NoticeBlind,
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("lanyard_agent_"+name, help, labels, nil)
}

// Describe sends the metrics' descriptions.
func (b *Board) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		events, runtime, lost, notices, sessions, processes, held, evicted, waiting, ringSize, mode, faulty,
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
	for _, kind := range noticeKinds {
		send(notices, prometheus.CounterValue, float64(s.Notices[string(kind)]), string(kind))
	}
	send(sessions, prometheus.GaugeValue, float64(s.Sessions))
	send(processes, prometheus.GaugeValue, float64(s.Processes))
	send(held, prometheus.GaugeValue, float64(s.Held))
	send(evicted, prometheus.CounterValue, float64(s.Evicted))
	send(waiting, prometheus.GaugeValue, float64(s.Waiting))
	send(ringSize, prometheus.GaugeValue, float64(s.RingBytes))
	if s.Mode != "" {
		send(mode, prometheus.GaugeValue, 1, s.Mode)
	}
	send(faulty, prometheus.GaugeValue, float64(len(s.Faults(b.options.Now()))))
}
