// Package configfile reads credential provider configurations: YAML or JSON, one file or a directory of files,
// strictly, with upstream's hash.
//
//	loaded, err := configfile.Load("/etc/kubernetes/credential-providers")
//	gates := credprovider.Gates{KubeletServiceAccountTokenForCredentialProviders: true}
//	err = credprovider.Validate(loaded.Config, gates)
//
// It is apart from its parent because YAML is a dependency that matching and plugins can do without.
package configfile
