package apiserver

// InjectedMetric is the name of the counter that a Recorder stands for, and
// ResultLabel its one label.
//
// Source: KEP-6035, Monitoring Requirements.
const (
	InjectedMetric = "apiserver_exec_audit_id_injected_total"
	ResultLabel    = "result"
)

// Result is what Inject did with the audit ID, and the value of ResultLabel.
type Result string

// The results.
const (
	// ResultInjected: the request's own audit ID was appended.
	ResultInjected Result = "injected"
	// ResultPlaceholder: execaudit.PlaceholderAuditID was appended.
	ResultPlaceholder Result = "placeholder"
	// ResultSkipped: a gate is off, nothing was appended.
	ResultSkipped Result = "skipped"
)

// Recorder counts. Implementations are safe for concurrent use.
type Recorder interface {
	// AuditIDInjected adds one to InjectedMetric{result}.
	AuditIDInjected(result Result)
}
