package supgroups

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknownPolicy means a policy that is neither PolicyMerge nor PolicyStrict. It is never treated as PolicyMerge.
	ErrUnknownPolicy = errors.New("unknown supplemental groups policy")
	// ErrGroupWithoutUser means that a primary group was given without a user.
	ErrGroupWithoutUser = errors.New("group without a user")
	// ErrUserSyntax means a user string in none of the six OCI forms, or a name longer than MaxNameBytes.
	ErrUserSyntax = errors.New("malformed user string")
	// ErrIDRange means an ID outside 0 to MaxID. The error is an *IDError.
	ErrIDRange = errors.New("id out of range")
	// ErrUnknownUser means that no usable row of the image's passwd file has the user's name.
	ErrUnknownUser = errors.New("unknown user")
	// ErrUnknownGroup means that no usable row of the image's group file has the group's name.
	ErrUnknownGroup = errors.New("unknown group")
	// ErrTooManyGroups means more than MaxGroups groups, which no kernel would accept.
	ErrTooManyGroups = errors.New("too many groups")
)

// IDError names the request's field whose ID is outside 0 to MaxID. It unwraps to ErrIDRange.
type IDError struct {
	// Field is the field's name in the pod API, such as "supplementalGroups[2]", or "image user".
	Field string
	// Value is the ID as it was given.
	Value string
}

// Error names the field, the value and the range.
func (e *IDError) Error() string {
	return fmt.Sprintf("%s: id %s is outside 0 to %d", e.Field, e.Value, MaxID)
}

// Unwrap returns ErrIDRange.
func (e *IDError) Unwrap() error { return ErrIDRange }
