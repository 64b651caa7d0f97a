package streaming

import "errors"

// Errors that those of Pack and Unpack unwrap to. None holds a value or a packed container ID.
var (
	// ErrContainerID: the request has no container ID, or one that looks packed.
	ErrContainerID = errors.New("container ID cannot be packed")
	// ErrNotJSON: a value is not UTF-8, and the process spec is JSON.
	ErrNotJSON = errors.New("value is not UTF-8, which the JSON of a process spec cannot carry")
	// ErrNotPacked: the container ID did not come through Pack, so it is not known whether the session had an environment.
	ErrNotPacked = errors.New("container ID is not packed with an exec environment")
	// ErrForged: the container ID looks packed, but not by Pack in this process and for this container, or it was changed.
	ErrForged = errors.New("exec environment in the container ID is not this container's")
)
