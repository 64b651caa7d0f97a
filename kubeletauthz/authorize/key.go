package authorize

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// key stands for a whole question. A hash keeps an entry's size independent of what authentication put into it, and no
// user data in the cache.
type key [sha256.Size]byte

// keyOf writes every field with its length in front, so that no two questions have one encoding, and hashes that.
func keyOf(spec *authorizationv1.SubjectAccessReviewSpec) key {
	var room [512]byte
	b := appendText(room[:0], spec.User, spec.UID)
	b = appendList(b, spec.Groups)
	b = appendExtra(b, spec.Extra)
	b = appendResource(b, spec.ResourceAttributes)
	if n := spec.NonResourceAttributes; n != nil {
		b = appendText(b, n.Path, n.Verb)
	}
	return sha256.Sum256(b)
}

func appendText(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

func appendList(b []byte, list []string) []byte {
	return appendText(binary.AppendUvarint(b, uint64(len(list))), list...)
}

// appendExtra sorts the names, because a map has no order.
func appendExtra(b []byte, extra map[string]authorizationv1.ExtraValue) []byte {
	b = binary.AppendUvarint(b, uint64(len(extra)))
	var room [8]string
	names := room[:0]
	for name := range extra {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b = appendList(appendText(b, name), extra[name])
	}
	return b
}

// appendResource starts with a byte that tells a question without resource attributes from one whose fields are all
// empty.
func appendResource(b []byte, r *authorizationv1.ResourceAttributes) []byte {
	if r == nil {
		return append(b, 0)
	}
	b = appendText(append(b, 1), r.Namespace, r.Verb, r.Group, r.Version, r.Resource, r.Subresource, r.Name)
	if r.FieldSelector == nil && r.LabelSelector == nil {
		return append(b, 0)
	}
	// Selectors are lists and strings, which always marshal.
	selectors, _ := json.Marshal([]any{r.FieldSelector, r.LabelSelector})
	return appendText(append(b, 1), string(selectors))
}
