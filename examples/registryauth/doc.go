// Package registryauth is a small front of a registry: nobody pulls without a
// password, and a password is had for a service account token only. It checks the
// token by the discovery document of its issuer, gives out a password that is good
// for one repository and a short while, and lets that password read.
//
//	POST /exchange  {"token": "...", "repository": "team/app"}
//	→ {"username": "team/app", "password": "...", "expiresInSeconds": 60}
package registryauth
