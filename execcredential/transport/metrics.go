package transport

import (
	"errors"
	"math"
	"time"

	"github.com/lanyard-dev/lanyard/pluginexec"
)

// Names of the metrics of KEP-541.
const (
	// MetricTTL is a gauge, in seconds; see [TTLSeconds].
	MetricTTL = "rest_client_exec_plugin_ttl_seconds"
	// MetricRotationAge is a histogram, in seconds, with [RotationAgeBuckets].
	MetricRotationAge = "rest_client_exec_plugin_certificate_rotation_age"
	// MetricCalls is a counter with the labels code and call_status.
	MetricCalls = "rest_client_exec_plugin_call_total"
)

// Values of the label call_status.
const (
	// StatusNoError is a run that gave a usable answer; its code is 0, and no other status has that code.
	StatusNoError = "no_error"
	// StatusExecutionError is a plugin that failed; the code is its exit code, -1 when a signal ended it.
	StatusExecutionError = "plugin_execution_error"
	// StatusNotFound is a plugin that is missing or not executable; the code is 1.
	StatusNotFound = "plugin_not_found_error"
	// StatusInternalError is everything else, an unusable answer included, where client-go says no_error; the code is
	// 1.
	StatusInternalError = "client_internal_error"
)

// DurationMetric observes some amount of time.
type DurationMetric interface {
	// Observe is called with the age of a certificate that has just been replaced, since its NotBefore.
	Observe(duration time.Duration)
}

// ExpiryMetric records a moment of expiry.
type ExpiryMetric interface {
	// Set is called with the earliest NotAfter of all certificates in the pool, nil when there is none.
	Set(expiry *time.Time)
}

// CallsMetric counts the runs of plugins.
type CallsMetric interface {
	// Increment is called once for each run that was started or could not be.
	Increment(exitCode int, callStatus string)
}

// Metrics are the recorders of a pool. A nil recorder records nothing. They are called from several goroutines and must
// not block.
type Metrics struct {
	// CertificateExpiry is for MetricTTL.
	CertificateExpiry ExpiryMetric
	// RotationAge is for MetricRotationAge.
	RotationAge DurationMetric
	// Calls is for MetricCalls.
	Calls CallsMetric
}

func (m Metrics) expiry(expiry *time.Time) {
	if m.CertificateExpiry != nil {
		m.CertificateExpiry.Set(expiry)
	}
}

func (m Metrics) rotated(age time.Duration) {
	if m.RotationAge != nil {
		m.RotationAge.Observe(age)
	}
}

func (m Metrics) called(err error) {
	if m.Calls != nil {
		m.Calls.Increment(callStatus(err))
	}
}

// callStatus sorts the end of a run into the KEP's four statuses.
func callStatus(err error) (code int, status string) {
	var exit *pluginexec.ExitError
	var timeout *pluginexec.TimeoutError
	var flood *pluginexec.OutputTooLargeError
	switch {
	case err == nil:
		return 0, StatusNoError
	case errors.As(err, &exit):
		return exit.Code, StatusExecutionError
	case errors.As(err, &timeout), errors.As(err, &flood):
		return -1, StatusExecutionError
	case errors.Is(err, pluginexec.ErrNotFound), errors.Is(err, pluginexec.ErrNotExecutable):
		return 1, StatusNotFound
	}
	return 1, StatusInternalError
}

// TTLSeconds returns the value of MetricTTL at now: the seconds until expiry, negative after it, +Inf when expiry is
// nil.
func TTLSeconds(expiry *time.Time, now time.Time) float64 {
	if expiry == nil {
		return math.Inf(1)
	}
	return expiry.Sub(now).Seconds()
}

// RotationAgeBuckets returns the upper bounds of MetricRotationAge in seconds, from ten minutes to four years. The
// slice is the caller's.
func RotationAgeBuckets() []float64 {
	return []float64{600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000}
}
