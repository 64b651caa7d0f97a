package pulled

import (
	"cmp"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// The versions of records. v1beta1 is written, both are read.
const (
	v1beta1  = "kubelet.config.k8s.io/v1beta1"
	v1alpha1 = "kubelet.config.k8s.io/v1alpha1"

	recordKind = "ImagePulledRecord"
	intentKind = "ImagePullIntent"
)

// Record says with whose credentials an image was pulled. Its JSON form is upstream's ImagePulledRecord.
type Record struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	// LastUpdatedTime is when the record changed last.
	LastUpdatedTime time.Time `json:"lastUpdatedTime"`
	// ImageRef is the runtime's name of the image: its content, not a tag.
	ImageRef string `json:"imageRef"`
	// CredentialMapping holds, by image as pods name it without tag and digest, who pulled it. An image that is missing
	// was pulled nobody knows how, and has to be pulled again.
	CredentialMapping map[string]Access `json:"credentialMapping,omitempty"`
}

// Access says who may use an image without a pull.
type Access struct {
	// Secrets are the image pull secrets that it was pulled with, by namespace, name and UID, each once.
	Secrets []Secret `json:"kubernetesSecrets,omitempty"`
	// Accounts are the service accounts that it was pulled as, by namespace, name and UID, each once.
	Accounts []credprovider.AccountRef `json:"kubernetesServiceAccounts,omitempty"`
	// Everyone is set when it was pulled without credentials, or with those of the node: then the lists are empty.
	Everyone bool `json:"nodePodsAccessible,omitempty"`
}

// Secret names an image pull secret, with a hash of the credentials in it.
type Secret struct {
	UID            string `json:"uid"`
	Namespace      string `json:"namespace"`
	Name           string `json:"name"`
	CredentialHash string `json:"credentialHash"`
}

// From returns the access that a successful pull with the credential of a plugin gives: to its service account, or to
// everyone on the node when no token was sent. Source: KEP-4412.
func From(credential credprovider.Credential) Access {
	if credential.Account == nil {
		return Access{Everyone: true}
	}
	return Access{Accounts: []credprovider.AccountRef{*credential.Account}}
}

// IsEmpty reports whether nobody has access.
func (a Access) IsEmpty() bool { return !a.Everyone && len(a.Secrets) == 0 && len(a.Accounts) == 0 }

// Merge returns the access that a and b give together, sorted, and whether it is more than a's. A secret of both has
// the hash that b knows. Neither is changed.
func (a Access) Merge(b Access) (Access, bool) {
	switch {
	case a.Everyone || b.IsEmpty():
		return a, false
	case b.Everyone:
		return Access{Everyone: true}, true
	}
	merged := Access{Secrets: slices.Clone(a.Secrets), Accounts: slices.Clone(a.Accounts)}
	changed := false
	for _, secret := range b.Secrets {
		changed = merged.addSecret(secret) || changed
	}
	for _, account := range b.Accounts {
		if !slices.Contains(merged.Accounts, account) {
			merged.Accounts, changed = append(merged.Accounts, account), true
		}
	}
	slices.SortFunc(merged.Secrets, func(x, y Secret) int { return compareNames(x.ref(), y.ref()) })
	slices.SortFunc(merged.Accounts, compareNames)
	return merged, changed
}

func (a *Access) addSecret(secret Secret) bool {
	at := slices.IndexFunc(a.Secrets, func(known Secret) bool { return known.ref() == secret.ref() })
	switch {
	case at < 0:
		a.Secrets = append(a.Secrets, secret)
	case a.Secrets[at].CredentialHash == secret.CredentialHash:
		return false
	default:
		a.Secrets[at].CredentialHash = secret.CredentialHash
	}
	return true
}

func (s Secret) ref() credprovider.AccountRef {
	return credprovider.AccountRef{Namespace: s.Namespace, Name: s.Name, UID: s.UID}
}

func compareNames(a, b credprovider.AccountRef) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

// allows reports whether a holder has access: it is everyone's, the hash of one of its secrets is known, one of its
// secrets is known by name and UID, or its service account is.
func (a Access) allows(holder Holder) bool {
	if a.Everyone {
		return true
	}
	for _, mine := range holder.Secrets {
		for _, known := range a.Secrets {
			if mine.ref() == known.ref() || (known.CredentialHash != "" && mine.CredentialHash == known.CredentialHash) {
				return true
			}
		}
	}
	return holder.Account != nil && slices.Contains(a.Accounts, *holder.Account)
}

// Holder is who wants to use an image: a pod, by what it could pull with.
type Holder struct {
	// Secrets are its image pull secrets for the image.
	Secrets []Secret
	// Account is its service account; nil for a pod without.
	Account *credprovider.AccountRef
}
