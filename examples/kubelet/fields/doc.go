// Package fields has one table of every field of a PodSpec: what the reference
// kubelet honours, what means nothing to a kubelet, and what it refuses. A pod
// that sets a field which would be dropped is refused by the field's name.
//
// A field that the table does not have is refused too, so that a newer API adds
// nothing in silence.
package fields
