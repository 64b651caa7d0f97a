package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// maxDocument is the largest document that is read from an issuer.
const maxDocument = 1 << 20 // 1 MiB

// keys returns the issuer's keys by way of its discovery document.
func (v Verifier) keys(ctx context.Context) (*jose.JSONWebKeySet, error) {
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := v.get(ctx, strings.TrimSuffix(v.Issuer, "/")+"/.well-known/openid-configuration", &document); err != nil {
		return nil, err
	}
	if document.Issuer != v.Issuer {
		return nil, fmt.Errorf("the discovery document is of issuer %q", document.Issuer)
	}
	keys := &jose.JSONWebKeySet{}
	return keys, v.get(ctx, document.Keys, keys)
}

func (v Verifier) get(ctx context.Context, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := v.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: HTTP %s", url, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxDocument)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}
