package stack

import "github.com/lanyard-dev/lanyard/examples/login/issuer"

// Login starts a login service, whose certificates are of the stack's authority and
// whose tokens the API server issues. Close it before the stack.
func (s *Stack) Login() (*issuer.Service, error) {
	return issuer.Start(issuer.Options{Authority: s.authority, Accounts: s.admin})
}
