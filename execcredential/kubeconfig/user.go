package kubeconfig

import (
	"net/url"

	"github.com/lanyard-dev/lanyard/execcredential"
)

func (c *Config) resolveUser(resolved *Resolved) error {
	resolved.Method = MethodNone
	if resolved.UserName == "" {
		return nil
	}
	for _, entry := range c.Users {
		if entry.Name == resolved.UserName {
			resolved.User = entry.User
			if err := entry.User.validate(); err != nil {
				return &EntryError{List: "users", Name: entry.Name, Err: err}
			}
			if err := resolved.choose(); err != nil {
				return &EntryError{List: "users", Name: entry.Name, Err: err}
			}
			return nil
		}
	}
	return &EntryError{List: "users", Name: resolved.UserName, Err: ErrNoEntry}
}

// choose takes the method that wins, and says why a plugin lost. The error is ErrAuthProvider.
func (r *Resolved) choose() error {
	method, because := r.User.method()
	if server, err := url.Parse(r.Cluster.Server); err == nil && server.Scheme == "http" {
		method, because = MethodNone, "the server is not https, and no credential goes over plain HTTP"
	}
	r.Method = method
	switch {
	case r.User.Exec == nil && method == MethodNone && because == "" && !r.User.AuthProvider.IsEmpty():
		return ErrAuthProvider
	case r.User.Exec == nil:
	case method == MethodExec:
		exec := r.User.Exec.Defaulted()
		exec.Impersonate = r.User.Impersonate
		exec = exec.Clone()
		r.Exec = &exec
	default:
		r.NotRun = because
	}
	return nil
}

func (u User) method() (method Method, because string) {
	switch {
	case !u.Token.IsEmpty() || u.TokenFile != "":
		return MethodToken, "the user has a static token, which wins"
	case u.Username != "" || !u.Password.IsEmpty():
		return MethodBasic, "the user has a name and password, which win"
	case u.ClientCertificate != "" || len(u.ClientCertificateData) > 0:
		return MethodCertificate, "the user has a static client certificate, which wins"
	case u.Exec != nil:
		return MethodExec, ""
	}
	return MethodNone, ""
}

func (u User) validate() error {
	certificate := u.ClientCertificate != "" || len(u.ClientCertificateData) > 0
	switch {
	case !u.Token.IsEmpty() && (u.Username != "" || !u.Password.IsEmpty()):
		return ErrAmbiguous
	case certificate && u.ClientKey == "" && u.ClientKeyData.IsEmpty():
		return ErrNoKey
	case u.Impersonate.Validate() != nil:
		return u.Impersonate.Validate()
	case u.Exec == nil:
		return nil
	case !u.AuthProvider.IsEmpty():
		return execcredential.ErrAuthProvider
	}
	return u.Exec.Validate()
}
