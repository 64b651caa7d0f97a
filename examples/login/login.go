package login

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/redact"
)

// Path is where the service takes requests.
const Path = "/login"

// Kind is what somebody logs in with afterwards.
type Kind string

// The kinds of credential.
const (
	Certificate Kind = "certificate" // a client certificate in the user's name
	Token       Kind = "token"       // a token of the user's service account
)

// Known reports whether it is one of the kinds.
func (k Kind) Known() bool { return k == Certificate || k == Token }

// Request is the body of a login.
type Request struct {
	User     string `json:"user"`
	Password string `json:"password"`
	Kind     Kind   `json:"kind"`
}

// Answer is the body of a login that was granted: a token, or a certificate with its
// key, and when to come again.
type Answer struct {
	Token       string    `json:"token,omitempty"`
	Certificate string    `json:"certificate,omitempty"`
	Key         string    `json:"key,omitempty"`
	Expires     time.Time `json:"expires"`
}

// maxAnswerBytes bounds what a service may say.
const maxAnswerBytes = 256 << 10 // 256 KiB

// ErrRoots is the condition of a client that trusts nobody.
var ErrRoots = errors.New("no certificate authority for the login service")

// Do logs in at the service and returns a plugin's answer. Roots are the PEM
// certificates that the service is checked against. The password is in no error.
func Do(ctx context.Context, service string, roots []byte, request Request) (execcredential.Status, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(roots) {
		return execcredential.Status{}, ErrRoots
	}
	body, err := json.Marshal(request)
	if err != nil {
		return execcredential.Status{}, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, service+Path, bytes.NewReader(body))
	if err != nil {
		return execcredential.Status{}, err
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	response, err := client.Do(post)
	if err != nil {
		return execcredential.Status{}, err
	}
	defer response.Body.Close()
	return read(response)
}

func read(response *http.Response) (execcredential.Status, error) {
	if response.StatusCode != http.StatusOK {
		return execcredential.Status{}, fmt.Errorf("login service: %s", response.Status)
	}
	var answer Answer
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswerBytes)).Decode(&answer); err != nil {
		return execcredential.Status{}, errors.New("login service: its answer is no JSON") // the cause may quote a secret
	}
	return execcredential.Status{
		ExpirationTimestamp: &answer.Expires, Token: redact.New(answer.Token),
		ClientCertificateData: answer.Certificate, ClientKeyData: redact.New(answer.Key),
	}, nil
}
