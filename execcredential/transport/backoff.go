package transport

import "time"

const (
	// DefaultBackoffBase is the pause after the first failure.
	DefaultBackoffBase = 500 * time.Millisecond
	// DefaultBackoffMax is the longest pause.
	DefaultBackoffMax = time.Minute
)

// Backoff is how long to leave a failing plugin alone. The zero value uses the defaults.
type Backoff struct {
	// Base is the pause after the first failure; zero is DefaultBackoffBase.
	Base time.Duration
	// Max is the longest pause; zero is DefaultBackoffMax.
	Max time.Duration
}

// Delay returns the pause after that many failures in a row: Base doubled for each after the first, at most Max, less
// up to half of it by jitter in [0, 1), so that many clients of one failed service do not return at once. It is 0 when
// failures is 0.
func (b Backoff) Delay(failures int, jitter float64) time.Duration {
	if failures <= 0 {
		return 0
	}
	longest := orDefault(b.Max, DefaultBackoffMax)
	delay := min(orDefault(b.Base, DefaultBackoffBase), longest)
	for range failures - 1 {
		if delay > longest/2 {
			delay = longest
			break
		}
		delay *= 2
	}
	return delay - time.Duration(float64(delay)/2*min(max(jitter, 0), 1))
}

func orDefault(value, fallback time.Duration) time.Duration {
	if value <= 0 {
		return fallback
	}
	return value
}
