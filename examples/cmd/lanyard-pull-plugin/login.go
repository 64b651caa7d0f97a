package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/examples/registryauth"
	"github.com/lanyard-dev/lanyard/examples/registryauth/workload"
	"github.com/lanyard-dev/lanyard/redact"
)

// asNode returns the standing login.
func (o options) asNode() (credprovider.AuthConfig, error) {
	if o.nodeLogin == "" {
		return credprovider.AuthConfig{}, ErrNobody
	}
	text, err := os.ReadFile(o.nodeLogin)
	if err != nil {
		return credprovider.AuthConfig{}, err
	}
	user, password, ok := strings.Cut(strings.TrimSpace(string(text)), ":")
	if !ok {
		return credprovider.AuthConfig{}, fmt.Errorf("%s: want user:password", o.nodeLogin)
	}
	return credprovider.AuthConfig{Username: user, Password: redact.New(password)}, nil
}

// asWorkload checks the token before it leaves the machine, and exchanges it.
func (o options) asWorkload(ctx context.Context, r credprovider.Request) (credprovider.AuthConfig, error) {
	client, err := o.issuerClient()
	if err != nil {
		return credprovider.AuthConfig{}, err
	}
	token := r.ServiceAccountToken.Reveal()
	if _, err := (workload.Verifier{Issuer: o.issuer, Audience: o.audience, Client: client}).Verify(ctx, token); err != nil {
		return credprovider.AuthConfig{}, err
	}
	_, repository, _ := strings.Cut(r.Image, "/")
	given, err := o.ask(ctx, registryauth.Request{Token: token, Repository: repository, Annotations: r.ServiceAccountAnnotations})
	if err != nil {
		return credprovider.AuthConfig{}, err
	}
	return credprovider.AuthConfig{Username: given.Username, Password: redact.New(given.Password)}, nil
}

func (o options) issuerClient() (*http.Client, error) {
	authority, err := os.ReadFile(o.issuerCA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s: no certificate in it", o.issuerCA)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}, nil
}

// maxAnswer is the largest answer that is read from a registry.
const maxAnswer = 64 << 10 // 64 KiB

func (o options) ask(ctx context.Context, request registryauth.Request) (registryauth.Response, error) {
	var out registryauth.Response
	body, err := json.Marshal(request)
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.exchange, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return out, err
	}
	if resp.StatusCode != http.StatusOK {
		return out, fmt.Errorf("the registry gives no password: %s", bytes.TrimSpace(said))
	}
	if json.Unmarshal(said, &out) != nil { // the cause could quote the password
		return out, fmt.Errorf("the registry's answer is not the JSON that was agreed on")
	}
	return out, nil
}
