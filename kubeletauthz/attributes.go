package kubeletauthz

import "iter"

// What all attributes have in common.
const (
	apiVersion = "v1"
	resource   = "nodes"
)

// Attribute is one question to an authorizer about a request. It is about the core API group, and nodes are not in a
// namespace. Source: KEP-2862, Design Details.
type Attribute struct {
	// Verb is lower case; it is empty for an HTTP method that has none, which only the verb "*" of a rule matches.
	Verb string
	// APIVersion is "v1".
	APIVersion string
	// Resource is "nodes".
	Resource string
	// Subresource is one of checkpoint, configz, healthz, log, metrics, pods, proxy, stats and statusz.
	Subresource string
	// Name is the node's name.
	Name string
}

// Attributes are the questions about one request, in the order to ask them; the first that is allowed allows the
// request. There are one or two, which differ in their subresource only. The zero value has none, so it allows nothing.
type Attributes struct {
	node          string
	verb          verb
	first, second subresource
}

// Len returns how many there are: 1 or 2, and 0 for the zero value.
func (a Attributes) Len() int {
	switch {
	case a.second != subNone:
		return 2
	case a.first != subNone:
		return 1
	}
	return 0
}

// At returns the i-th, from 0. For an i that is negative or not below Len, it returns an Attribute without a
// subresource.
func (a Attributes) At(i int) Attribute {
	sub := subNone
	switch i {
	case 0:
		sub = a.first
	case 1:
		sub = a.second
	}
	return Attribute{Verb: a.verb.String(), APIVersion: apiVersion, Resource: resource, Subresource: sub.String(), Name: a.node}
}

// All yields them in order.
func (a Attributes) All() iter.Seq[Attribute] {
	return func(yield func(Attribute) bool) {
		for i := range a.Len() {
			if !yield(a.At(i)) {
				return
			}
		}
	}
}

// Verb returns the verb that they share.
func (a Attributes) Verb() string { return a.verb.String() }

// Subresources returns a new slice of their subresources, in order; nil when there are none.
func (a Attributes) Subresources() []string {
	var names []string
	for i := range a.Len() {
		names = append(names, a.At(i).Subresource)
	}
	return names
}
