package credprovider

import (
	"fmt"
	"slices"
	"strings"
)

const (
	requiredKeys = "tokenAttributes.requiredServiceAccountAnnotationKeys"
	optionalKeys = "tokenAttributes.optionalServiceAccountAnnotationKeys"
)

// validateTokenAttributes goes on after a closed gate, as upstream does, so that one run shows all there is to mend.
func validateTokenAttributes(at place, provider Provider, gates Gates) {
	token := provider.TokenAttributes
	if !gates.KubeletServiceAccountTokenForCredentialProviders {
		at.forbidden("tokenAttributes", "tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders feature gate is disabled")
	}
	if token.ServiceAccountTokenAudience == "" {
		at.required("tokenAttributes.serviceAccountTokenAudience", "")
	}
	if token.RequireServiceAccount == nil {
		at.required("tokenAttributes.requireServiceAccount", "")
	}
	if provider.APIVersion != V1 {
		at.forbidden("tokenAttributes", "tokenAttributes is only supported for "+V1+" API version")
	}
	required, optional := token.RequiredServiceAccountAnnotationKeys, token.OptionalServiceAccountAnnotationKeys
	if token.RequireServiceAccount != nil && !*token.RequireServiceAccount && len(required) > 0 {
		at.forbidden(requiredKeys, "requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set")
	}
	validateKeys(at, requiredKeys, required)
	validateKeys(at, optionalKeys, optional)
	if both := intersection(required, optional); len(both) > 0 {
		at.add(FaultInvalid, "tokenAttributes", quotedList(both), "annotation keys cannot be both required and optional")
	}
	validateCacheType(at, token.CacheType)
}

func validateCacheType(at place, cacheType TokenCacheType) {
	const field = "tokenAttributes.cacheType"
	switch cacheType {
	case CacheByServiceAccount, CacheByToken:
	case "":
		at.required(field, "cacheType is required to be set when tokenAttributes is specified. Supported values are: ServiceAccount, Token")
	default:
		at.unsupported(field, string(cacheType), string(CacheByServiceAccount), string(CacheByToken))
	}
}

// validateKeys lets case pass, as annotations do, and tells keys apart by it.
func validateKeys(at place, field string, keys []string) {
	for i, key := range keys {
		for _, rule := range qualifiedNameFaults(strings.ToLower(key)) {
			at.invalid(fmt.Sprintf("%s[%d]", field, i), key, rule)
		}
		if slices.Contains(keys[:i], key) {
			at.duplicate(fmt.Sprintf("%s[%d]", field, i), key)
		}
	}
}

// intersection returns the strings that are in both, sorted, each once.
func intersection(a, b []string) []string {
	var both []string
	for _, s := range a {
		if slices.Contains(b, s) {
			both = append(both, s)
		}
	}
	slices.Sort(both)
	return slices.Compact(both)
}

func quotedList(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
