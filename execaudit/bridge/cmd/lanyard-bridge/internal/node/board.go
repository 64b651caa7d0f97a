//go:build linux

package node

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// Status is what the daemon says of itself at /status. Paths are the host's.
type Status struct {
	Node    string    `json:"node"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// Journal and Spool are paths; JournalError is why nothing is written, while that is so.
	Journal      string `json:"journal"`
	JournalError string `json:"journalError,omitempty"`
	Sealed       bool   `json:"sealed"`
	Spool        string `json:"spool"`
	// Waiting are the files of the spool that the journal does not have; Broken says, by name, what is wrong with others.
	Waiting int               `json:"waiting"`
	Broken  map[string]string `json:"broken,omitempty"`
	// Sessions are those that have not ended.
	Sessions int `json:"sessions"`
	// Lease is its name, Renewed when it was renewed, LeaseError why it could not be.
	Lease      string     `json:"lease,omitempty"`
	Renewed    *time.Time `json:"renewed,omitempty"`
	LeaseError string     `json:"leaseError,omitempty"`
	// Keys are the IDs of those that the node verifies with; KeysError is why they could not be copied.
	Keys      []string `json:"keys"`
	KeysError string   `json:"keysError,omitempty"`
	// Handlers are those that are installed. InstalledError is why they are not known.
	Handlers       map[string]HandlerStatus `json:"handlers"`
	InstalledError string                   `json:"installedError,omitempty"`
}

// HandlerStatus is one handler that is installed.
type HandlerStatus struct {
	Mode  string    `json:"mode"`
	Since time.Time `json:"since"`
	Mark  string    `json:"mark,omitempty"`
	Ready bool      `json:"ready"`
	// Reason says why it is not ready.
	Reason string `json:"reason,omitempty"`
}

// board is the daemon's status and metrics, for all its goroutines.
type board struct {
	mu     sync.Mutex
	status Status

	registry  *prometheus.Registry
	records   *prometheus.CounterVec
	refusals  *prometheus.CounterVec
	failures  *prometheus.CounterVec
	unmarkeds prometheus.Counter
	waiting   prometheus.Gauge
	brokens   prometheus.Gauge
	open      prometheus.Gauge
	renewed   prometheus.Gauge
	ready     *prometheus.GaugeVec
}

const metricsPrefix = "lanyard_bridge_node_"

func newBoard(o Options) *board {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: metricsPrefix + name, Help: help})
	}
	b := &board{
		status: Status{
			Node: o.Node, Version: version(), Started: o.now().UTC(), Journal: o.Journal, Sealed: o.JournalKey != "", Spool: o.Spool,
		},
		registry: prometheus.NewRegistry(),
		records:  counter("records_total", "Records written into the journal.", "kind"),
		refusals: counter("refusals_total", "Sessions that the wrapper refused, by the kind of reason.", "reason"),
		failures: counter("failures_total", "What went wrong and is tried again: journal, spool, lease, keys, record.", "what"),
		unmarkeds: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricsPrefix + "mark_failures_total", Help: "Sessions whose processes have no mark of the kernel's.",
		}),
		waiting: gauge("spool_files_waiting", "Files of the spool that the journal does not have."),
		brokens: gauge("spool_files_broken", "Files of the spool that cannot be read."),
		open:    gauge("sessions_open", "Sessions that have not ended."),
		renewed: gauge("lease_renewed_timestamp_seconds", "When the node's Lease was renewed."),
		ready: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: metricsPrefix + "handler_ready", Help: "Whether the wrapper is ready for a runtime handler that is installed.",
		}, []string{"handler", "mode"}),
	}
	if !o.NoLease {
		b.status.Lease = leaseName(o.Node)
	}
	b.registry.MustRegister(b.records, b.refusals, b.failures, b.unmarkeds, b.waiting, b.brokens, b.open, b.renewed, b.ready)
	return b
}

// Status returns a copy.
func (b *board) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.status
	s.Broken, s.Handlers = maps.Clone(s.Broken), maps.Clone(s.Handlers)
	return s
}

func (b *board) change(f func(*Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.status)
}

func (b *board) journalFailed(err error) {
	b.failures.WithLabelValues("journal").Inc()
	b.change(func(s *Status) { s.JournalError = err.Error() })
}

func (b *board) journalWorks() { b.change(func(s *Status) { s.JournalError = "" }) }

func (b *board) wrote(records []*journal.Record) {
	b.journalWorks()
	for _, r := range records {
		b.records.WithLabelValues(string(r.Kind)).Inc()
	}
}

func (b *board) unwritable()          { b.failures.WithLabelValues("record").Inc() }
func (b *board) spoolFailed()         { b.failures.WithLabelValues("spool").Inc() }
func (b *board) unmarked()            { b.unmarkeds.Inc() }
func (b *board) refused(class string) { b.refusals.WithLabelValues(class).Inc() }
func (b *board) refusedBeyond(more int64) {
	b.refusals.WithLabelValues(classBeyond).Add(float64(more) - 1)
}

func (b *board) broken(files map[string]string) {
	b.brokens.Set(float64(len(files)))
	b.change(func(s *Status) { s.Broken = files })
}

func (b *board) sessions(waiting, open int) {
	b.waiting.Set(float64(waiting))
	b.open.Set(float64(open))
	b.change(func(s *Status) { s.Waiting, s.Sessions = waiting, open })
}

func (b *board) renewal(at time.Time, err error) {
	if err != nil {
		b.failures.WithLabelValues("lease").Inc()
		b.change(func(s *Status) { s.LeaseError = err.Error() })
		return
	}
	b.renewed.Set(float64(at.UnixMilli()) / 1000)
	b.change(func(s *Status) { s.Renewed, s.LeaseError = &at, "" })
}

func (b *board) keys(err error) {
	text := ""
	if err != nil {
		b.failures.WithLabelValues("keys").Inc()
		text = err.Error()
	}
	b.change(func(s *Status) { s.KeysError = text })
}

func (b *board) readiness(keys []string, handlers map[string]HandlerStatus, err error) {
	b.ready.Reset()
	for name, h := range handlers {
		value := 0.0
		if h.Ready {
			value = 1
		}
		b.ready.WithLabelValues(name, h.Mode).Set(value)
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	b.change(func(s *Status) { s.Keys, s.Handlers, s.InstalledError = keys, handlers, text })
}
