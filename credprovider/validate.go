package credprovider

import (
	"fmt"
	"strings"
)

// Gates are the feature gates that the rules of a configuration depend on, by upstream's names. The zero value has all
// off.
type Gates struct {
	// KubeletServiceAccountTokenForCredentialProviders permits tokenAttributes: KEP-4412.
	KubeletServiceAccountTokenForCredentialProviders bool
}

// Validate returns every rule that the configuration breaks, or nil. The error is a [Faults].
//
// The rules and their words are upstream's. Three things differ: a path holds the index of the provider, and the file
// when its Origin has one; an empty name is a fault, where upstream accepts it and then tries to execute the directory;
// so is a pattern that cannot be compiled, where upstream only tries to parse it and then never matches it.
//
// Source: KEP-4412, Credential Provider Configuration; Kubernetes 1.36, pkg/credentialprovider/plugin.
func Validate(config Config, gates Gates) error {
	var faults Faults
	if len(config.Providers) == 0 {
		faults = append(faults, &Fault{Field: "providers", Kind: FaultRequired, Detail: "at least 1 item in plugins is required"})
	}
	seen := make(map[string]bool, len(config.Providers))
	for i, provider := range config.Providers {
		at := place{origin: provider.Origin, faults: &faults}
		if at.origin.File == "" {
			at.origin.Index = i
		}
		validateName(at, provider.Name)
		if seen[provider.Name] {
			at.duplicate("name", provider.Name)
		}
		seen[provider.Name] = true
		validateProvider(at, provider)
		if provider.TokenAttributes != nil {
			validateTokenAttributes(at, provider, gates)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return faults
}

func validateName(at place, name string) {
	if name == "" {
		at.required("name", "the name of the executable")
	}
	if strings.Contains(name, "/") {
		at.invalid("name", name, "provider name cannot contain '/'")
	}
	if strings.Contains(name, " ") {
		at.invalid("name", name, "provider name cannot contain spaces")
	}
	if name == "." || name == ".." {
		at.invalid("name", name, fmt.Sprintf("provider name cannot be '%s'", name))
	}
}

func validateProvider(at place, provider Provider) {
	switch provider.APIVersion {
	case V1, V1beta1, V1alpha1:
	case "":
		at.required("apiVersion", "")
	default:
		at.unsupported("apiVersion", provider.APIVersion, V1, V1alpha1, V1beta1)
	}
	if len(provider.MatchImages) == 0 {
		at.required("matchImages", "at least 1 item in matchImages is required")
	}
	for i, text := range provider.MatchImages {
		if _, err := Compile(text); err != nil {
			at.invalid(fmt.Sprintf("matchImages[%d]", i), text, "match image is invalid: "+reasonOf(err))
		}
	}
	switch {
	case provider.DefaultCacheDuration == nil:
		at.required("defaultCacheDuration", "")
	case *provider.DefaultCacheDuration < 0:
		at.invalid("defaultCacheDuration", provider.DefaultCacheDuration.String(), "must be greater than or equal to 0")
	}
}
