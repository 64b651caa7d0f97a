package supgroups

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxNameBytes is the longest user or group name, in bytes, that is looked up or kept: LOGIN_NAME_MAX on Linux.
const MaxNameBytes = 256

// Ref is one half of a user string: an ID, a name, or nothing (the zero Ref).
type Ref struct {
	// Name is set when the text is not a number.
	Name string
	// ID is meaningful when Numeric is true.
	ID uint32
	// Numeric is true when the text is decimal digits after an optional sign. Such a text is an ID even where it is the
	// name in a row of the files.
	Numeric bool
}

// IsZero reports whether r refers to nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// String returns the ID in decimal, the name as it is, or "". A name is untrusted text: quote it when you print it.
func (r Ref) String() string {
	if r.Numeric {
		return strconv.FormatUint(uint64(r.ID), 10)
	}
	return r.Name
}

// UserString is a parsed OCI config.User.
type UserString struct {
	// User is never the zero Ref after a successful parse of a non-empty string.
	User Ref
	// Group is the zero Ref when no group is given.
	Group Ref
}

// ParseUserString reads an image's user: "user", "uid", "user:group", "uid:gid", "uid:group" or "user:gid". The empty
// string gives the zero UserString, and an empty group part ("user:") means that no group is given.
//
// Errors: ErrUserSyntax for a second colon or a part longer than MaxNameBytes, ErrGroupWithoutUser for ":group", and
// *IDError for a number outside 0 to MaxID. Source: OCI image specification, config.User.
//
// Runtimes disagree on the odd forms: containerd reads "user:" as group 0, CRI-O reads "a:b:c" as "a:b".
func ParseUserString(s string) (UserString, error) {
	if s == "" {
		return UserString{}, nil
	}
	user, group, _ := strings.Cut(s, ":")
	if strings.Contains(group, ":") {
		return UserString{}, fmt.Errorf("%w: image user has more than one colon", ErrUserSyntax)
	}
	if user == "" {
		return UserString{}, fmt.Errorf("%w: image user begins with a colon", ErrGroupWithoutUser)
	}
	u, err := parseRef("image user", user)
	if err != nil || group == "" {
		return UserString{User: u}, err
	}
	g, err := parseRef("group of image user", group)
	if err != nil {
		return UserString{}, err
	}
	return UserString{User: u, Group: g}, nil
}

func parseRef(field, s string) (Ref, error) {
	if len(s) > MaxNameBytes {
		return Ref{}, fmt.Errorf("%w: %s exceeds %d bytes", ErrUserSyntax, field, MaxNameBytes)
	}
	if strings.Contains(s, ":") {
		return Ref{}, fmt.Errorf("%w: %s %q contains a colon", ErrUserSyntax, field, s)
	}
	if !isNumber(s) {
		return Ref{Name: s}, nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	id, ok := inRange(v)
	if err != nil || !ok {
		return Ref{}, &IDError{Field: field, Value: s}
	}
	return Ref{ID: id, Numeric: true}, nil
}
