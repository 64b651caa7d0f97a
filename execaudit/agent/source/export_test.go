package source

import "time"

// SetCheckEvery says how often a Source looks whether processes are there.
func SetCheckEvery(s *Source, d time.Duration) { s.checkEvery = d }

// SinceBoot is sinceBoot.
var SinceBoot = sinceBoot
