package credprovider

import (
	"fmt"
	"slices"
	"strings"
)

// ServiceAccount is what of a service account counts for image pulls.
type ServiceAccount struct {
	Namespace string
	Name      string
	UID       string
	// Annotations are all annotations of the service account.
	Annotations map[string]string
}

// AccountRef names one life of a service account: one that is deleted and made again has another UID.
type AccountRef struct {
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Ref returns the names of a.
func (a ServiceAccount) Ref() AccountRef {
	return AccountRef{Namespace: a.Namespace, Name: a.Name, UID: a.UID}
}

// String returns "NAMESPACE/NAME".
func (r AccountRef) String() string { return r.Namespace + "/" + r.Name }

// MissingAnnotationsError says that a service account lacks annotations that a plugin requires.
type MissingAnnotationsError struct {
	// Account is the service account.
	Account AccountRef
	// Keys are the missing keys, in the order of the configuration.
	Keys []string
}

// Error names the service account and the missing keys.
func (e *MissingAnnotationsError) Error() string {
	return fmt.Sprintf("service account %q: required annotation missing: %s", e.Account.String(), strings.Join(e.Keys, ", "))
}

// SelectAnnotations returns the annotations of account that a plugin is sent: those of the two lists that the service
// account has, and no others. An empty value is a value. The map is new, and nil when it would be empty; token may be
// nil.
//
// A missing required key is a *[MissingAnnotationsError] that names all missing ones. Upstream skips the plugin
// silently; the KEP wants an error.
//
// Source: KEP-4412, Credential Provider Configuration.
func SelectAnnotations(account ServiceAccount, token *TokenAttributes) (map[string]string, error) {
	if token == nil {
		return nil, nil
	}
	var selected map[string]string
	var missing []string
	required := token.RequiredServiceAccountAnnotationKeys
	for i, key := range slices.Concat(required, token.OptionalServiceAccountAnnotationKeys) {
		value, ok := account.Annotations[key]
		switch {
		case ok && selected == nil:
			selected = map[string]string{key: value}
		case ok:
			selected[key] = value
		case i < len(required):
			missing = append(missing, key)
		}
	}
	if missing != nil {
		return nil, &MissingAnnotationsError{Account: account.Ref(), Keys: missing}
	}
	return selected, nil
}
