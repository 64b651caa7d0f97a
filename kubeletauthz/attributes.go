package kubeletauthz

import "iter"

// What every attribute has in common.
const (
	apiVersion = "v1"
	resource   = "nodes"
)

// Attribute is one question to an authorizer about a request. APIGroup and Namespace are always empty: nodes are in the
// core group and not in a namespace. Source: KEP-2862, Design Details.
type Attribute struct {
	// Verb is lower case; it is empty for methods that have none, and then only the verb "*" of a rule matches.
	Verb string
	// APIGroup is empty.
	APIGroup string
	// APIVersion is "v1".
	APIVersion string
	// Resource is "nodes".
	Resource string
	// Subresource is one of checkpoint, configz, healthz, log, metrics, pods, proxy, stats and statusz.
	Subresource string
	// Namespace is empty.
	Namespace string
	// Name is the node's name.
	Name string
}

// Attributes are the questions about one request, in the order to ask them; the first that is allowed allows the request.
// There are one or two, which differ in their subresource only. The zero value has none, so it allows nothing.
type Attributes struct {
	verb, node   string
	subresources [2]string
	n            int
}

// Len is how many there are: 1 or 2, and 0 for the zero value.
func (a Attributes) Len() int { return a.n }

// At returns the i-th, from 0. An i outside of Len gives an Attribute without subresource.
func (a Attributes) At(i int) Attribute {
	at := Attribute{Verb: a.verb, APIVersion: apiVersion, Resource: resource, Name: a.node}
	if i >= 0 && i < a.n {
		at.Subresource = a.subresources[i]
	}
	return at
}

// All yields them in order.
func (a Attributes) All() iter.Seq[Attribute] {
	return func(yield func(Attribute) bool) {
		for i := range a.n {
			if !yield(a.At(i)) {
				return
			}
		}
	}
}

// Verb is the verb they share.
func (a Attributes) Verb() string { return a.verb }

// Subresources returns a new slice of their subresources, in order; nil when there are none.
func (a Attributes) Subresources() []string {
	return append([]string(nil), a.subresources[:a.n]...)
}
