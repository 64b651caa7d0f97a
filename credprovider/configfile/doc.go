// Package configfile reads credential provider configurations: YAML or JSON, one file or a directory of files,
// strictly, with upstream's hash.
//
//	loaded, err := configfile.Load("/etc/kubernetes/credential-providers")
//	err = credprovider.Validate(loaded.Config, credprovider.Gates{ServiceAccountTokens: true})
//
// It is apart from its parent because YAML is a dependency that matching and plugins can do without.
package configfile
