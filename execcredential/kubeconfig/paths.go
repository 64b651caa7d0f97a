package kubeconfig

import (
	"path/filepath"
	"strings"
)

// ResolvePaths returns a copy whose relative paths are joined to dir, the directory of the file they came from: the
// certificate authority, client certificate and key, token file, and an exec command that contains the system's path
// separator. A bare command stays a name for PATH. "~" and "$NAME" are not expanded.
func (c *Config) ResolvePaths(dir string) *Config {
	resolved := *c
	resolved.Clusters = append([]NamedCluster(nil), c.Clusters...)
	for i := range resolved.Clusters {
		cluster := &resolved.Clusters[i].Cluster
		cluster.CertificateAuthority = absolute(dir, cluster.CertificateAuthority)
	}
	resolved.Users = append([]NamedUser(nil), c.Users...)
	for i := range resolved.Users {
		resolved.Users[i].User = resolved.Users[i].User.resolve(dir)
	}
	return &resolved
}

func (u User) resolve(dir string) User {
	u.ClientCertificate = absolute(dir, u.ClientCertificate)
	u.ClientKey = absolute(dir, u.ClientKey)
	u.TokenFile = absolute(dir, u.TokenFile)
	if u.Exec != nil && strings.ContainsRune(u.Exec.Command, filepath.Separator) {
		exec := u.Exec.Clone()
		exec.Command = absolute(dir, exec.Command)
		u.Exec = &exec
	}
	return u
}

func absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
