package kubeconfig

import "slices"

// Merge joins configurations. Of entries with one name the first counts, whole; of current contexts the first that is
// not empty. Entries keep the order in which they come. The result is new; it shares the entries' slices.
func Merge(configs ...*Config) *Config {
	merged := &Config{}
	for _, config := range configs {
		merged.Clusters = join(merged.Clusters, config.Clusters, func(e NamedCluster) string { return e.Name })
		merged.Users = join(merged.Users, config.Users, func(e NamedUser) string { return e.Name })
		merged.Contexts = join(merged.Contexts, config.Contexts, func(e NamedContext) string { return e.Name })
		merged.Extensions = join(merged.Extensions, config.Extensions, func(e Extension) string { return e.Name })
		if merged.CurrentContext == "" {
			merged.CurrentContext = config.CurrentContext
		}
		if merged.Preferences.IsEmpty() {
			merged.Preferences = config.Preferences
		}
	}
	return merged
}

func join[E any](first, more []E, name func(E) string) []E {
	for _, entry := range more {
		same := func(e E) bool { return name(e) == name(entry) }
		if !slices.ContainsFunc(first, same) {
			first = append(first, entry)
		}
	}
	return first
}
