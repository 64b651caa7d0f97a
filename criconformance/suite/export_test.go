package suite

// Tried is the check of Run that a case was tried. No runtime of the tests makes a case the only one that is skipped.
func (r Report) Tried() error { return r.tried() }
