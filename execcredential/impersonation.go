package execcredential

import (
	"maps"
	"slices"
)

// Impersonation is whom a client acts as: the as fields of a kubeconfig's user. The zero value impersonates nobody.
type Impersonation struct {
	// Name is the user name to act as. Required when another field is set.
	Name string
	// UID is the user's unique identifier; empty sends none.
	UID string
	// Groups are the groups to act with, in the order in which they are sent.
	Groups []string
	// Extra are further attributes, by name.
	Extra map[string][]string
}

// IsZero reports whether nobody is impersonated.
func (i Impersonation) IsZero() bool {
	return i.Name == "" && i.UID == "" && len(i.Groups) == 0 && len(i.Extra) == 0
}

// Validate returns a *[FieldError] when a UID, groups or extra attributes are set without a name, as kubectl refuses
// it.
func (i Impersonation) Validate() error {
	if i.Name == "" && !i.IsZero() {
		return &FieldError{Field: "as", Rule: "is required with as-uid, as-groups and as-user-extra"}
	}
	return nil
}

func (i Impersonation) clone() Impersonation {
	i.Groups = slices.Clone(i.Groups)
	i.Extra = maps.Clone(i.Extra)
	for name, values := range i.Extra {
		i.Extra[name] = slices.Clone(values)
	}
	return i
}
