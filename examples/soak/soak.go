// Package soak says how large tests are whose size is not the point: small in every
// run, and as large as the project promises under `make soak`.
package soak

import (
	"os"
	"time"
)

// Variable names the environment variable that asks for full sizes when it is not
// empty.
const Variable = "LANYARD_SOAK"

// Size returns small, or full where full sizes are asked for.
func Size(small, full int) int {
	if os.Getenv(Variable) != "" {
		return full
	}
	return small
}

// Time is Size of durations.
func Time(small, full time.Duration) time.Duration {
	return time.Duration(Size(int(small), int(full)))
}
