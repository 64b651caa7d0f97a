package credprovider

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/redact"
)

// The versions of the plugin protocol, as the apiVersion of a [Provider] and of the messages.
const (
	V1       = "credentialprovider.kubelet.k8s.io/v1"
	V1beta1  = "credentialprovider.kubelet.k8s.io/v1beta1"
	V1alpha1 = "credentialprovider.kubelet.k8s.io/v1alpha1"
)

// The versions of the configuration file, as the apiVersion of a [Config]. Only ConfigV1 has tokenAttributes.
const (
	ConfigV1       = "kubelet.config.k8s.io/v1"
	ConfigV1beta1  = "kubelet.config.k8s.io/v1beta1"
	ConfigV1alpha1 = "kubelet.config.k8s.io/v1alpha1"
)

// ConfigKind is the kind of a configuration file.
const ConfigKind = "CredentialProviderConfig"

// Config is a CredentialProviderConfig: the plugins a kubelet may run, in the order in which their answers count.
// By encoding/json it is shown, with arguments and values redacted; package configfile reads it.
type Config struct {
	Kind       string     `json:"kind,omitempty"`
	APIVersion string     `json:"apiVersion,omitempty"`
	Providers  []Provider `json:"providers"`
}

// Provider configures one plugin.
type Provider struct {
	// Name is the file name of the executable in the plugin directory. Unique in a configuration.
	Name string `json:"name"`
	// MatchImages are the patterns of images that the plugin serves; see [Pattern].
	MatchImages []string `json:"matchImages"`
	// DefaultCacheDuration is how long an answer without a duration of its own is kept; zero is not at all. Required.
	DefaultCacheDuration *Duration `json:"defaultCacheDuration"`
	// APIVersion is the version of the protocol that the plugin speaks.
	APIVersion string `json:"apiVersion"`
	// Args are passed to the plugin as they are, in order. One may hold a password, so they are not shown.
	Args []redact.Text `json:"args,omitempty"`
	// Env is added to the environment of the host, and wins over it.
	Env []EnvVar `json:"env,omitempty"`
	// TokenAttributes, when set, makes the plugin act for the workload: it is given a service account token.
	TokenAttributes *TokenAttributes `json:"tokenAttributes,omitempty"`
	// Origin is where the provider was read; it is not part of the file. The zero value names no place.
	Origin Origin `json:"-"`
}

// EnvVar is one environment variable of a plugin. Its value may be a secret, so it is not shown.
type EnvVar struct {
	Name  string      `json:"name"`
	Value redact.Text `json:"value"`
}

// TokenAttributes says which service account token a plugin is given, and how its answers are cached.
type TokenAttributes struct {
	// ServiceAccountTokenAudience is the one audience of the token. Required.
	ServiceAccountTokenAudience string `json:"serviceAccountTokenAudience"`
	// CacheType says whether answers belong to a token or to a service account. Required.
	CacheType TokenCacheType `json:"cacheType"`
	// RequireServiceAccount keeps the plugin from running for a pod without service account. Required.
	RequireServiceAccount *bool `json:"requireServiceAccount"`
	// RequiredServiceAccountAnnotationKeys are the annotations without which the plugin is not run.
	RequiredServiceAccountAnnotationKeys []string `json:"requiredServiceAccountAnnotationKeys,omitempty"`
	// OptionalServiceAccountAnnotationKeys are the annotations passed when the service account has them.
	OptionalServiceAccountAnnotationKeys []string `json:"optionalServiceAccountAnnotationKeys,omitempty"`
}

// TokenCacheType says what an answer of a plugin with a token depends on.
type TokenCacheType string

// The cache types of KEP-4412.
const (
	// CacheByToken: the answer is as good as the token it was got with, and no longer.
	CacheByToken TokenCacheType = "Token"
	// CacheByServiceAccount: the answer depends on the service account only; its pods share it.
	CacheByServiceAccount TokenCacheType = "ServiceAccount"
)

// Origin is the place of a provider in the files of a configuration.
type Origin struct {
	// File is the path of the file; empty when there is none.
	File string
	// Index is the position in the file's list, from 0.
	Index int
}

// String returns "FILE: providers[INDEX]", without the first part when there is no file.
func (o Origin) String() string {
	if o.File == "" {
		return fmt.Sprintf("providers[%d]", o.Index)
	}
	return fmt.Sprintf("%s: providers[%d]", o.File, o.Index)
}
