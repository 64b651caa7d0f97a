package kubeconfig

import (
	"net/url"

	"github.com/lanyard-dev/lanyard/execcredential"
)

func (c *Config) resolveUser(login *Login) error {
	login.Method = None
	if login.UserName == "" {
		return nil
	}
	for _, entry := range c.Users {
		if entry.Name == login.UserName {
			login.User = entry.User
			if err := entry.User.validate(); err != nil {
				return &EntryError{List: "users", Name: entry.Name, Err: err}
			}
			if err := login.choose(); err != nil {
				return &EntryError{List: "users", Name: entry.Name, Err: err}
			}
			return nil
		}
	}
	return &EntryError{List: "users", Name: login.UserName, Err: ErrNoEntry}
}

// choose takes the method that wins, and says why a plugin lost. The error is ErrAuthProvider.
func (l *Login) choose() error {
	method, because := l.User.method()
	if server, err := url.Parse(l.Cluster.Server); err == nil && server.Scheme == "http" {
		method, because = None, "the server is not https, and no credential goes over plain HTTP"
	}
	l.Method = method
	switch {
	case l.User.Exec == nil && method == None && because == "" && !l.User.AuthProvider.IsEmpty():
		return ErrAuthProvider
	case l.User.Exec == nil:
	case method == Exec:
		exec := l.User.Exec.Defaulted()
		exec.Impersonate = l.User.Impersonate
		exec = exec.Clone()
		l.Exec = &exec
	default:
		l.NotRun = because
	}
	return nil
}

func (u User) method() (method Method, because string) {
	switch {
	case !u.Token.IsEmpty() || u.TokenFile != "":
		return Token, "the user has a static token, which wins"
	case u.Username != "" || !u.Password.IsEmpty():
		return Basic, "the user has a name and password, which win"
	case u.ClientCertificate != "" || len(u.ClientCertificateData) > 0:
		return Certificate, "the user has a static client certificate, which wins"
	case u.Exec != nil:
		return Exec, ""
	}
	return None, ""
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
