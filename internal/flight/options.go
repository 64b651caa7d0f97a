package flight

import "time"

// Options say how long a run may go on. The zero value is a run without a limit that ends with its last caller.
type Options struct {
	// Limit is the longest that anybody waits for the run, from its beginning: then its context is cancelled with a
	// *[LimitError] as the cause, its callers get that error, and what the function returns later is dropped. Zero or
	// less is no limit.
	Limit time.Duration
	// Detached lets the run go on when its last caller has left. Without a Limit the function has to end by itself.
	Detached bool
}
