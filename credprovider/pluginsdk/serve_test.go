package pluginsdk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk"
	"github.com/lanyard-dev/lanyard/redact"
)

func serve(handler pluginsdk.Handler, in string) (code int, out, problems string) {
	var o, p bytes.Buffer
	code = pluginsdk.Serve(context.Background(), handler, strings.NewReader(in), &o, &p)
	return code, o.String(), p.String()
}

func line(version, rest string) string {
	return fmt.Sprintf(`{"kind":"CredentialProviderRequest","apiVersion":%q,"image":"reg.io/x"%s}`, version, rest)
}

func none(context.Context, credprovider.Request) (credprovider.Response, error) {
	return credprovider.Response{CacheKeyType: credprovider.KeyImage}, nil
}

func TestServe(t *testing.T) {
	for _, version := range []string{credprovider.V1, credprovider.V1beta1, credprovider.V1alpha1} {
		t.Run("CRP-24 answers in the request's version: "+version, func(t *testing.T) {
			code, out, problems := serve(none, line(version, ""))
			if _, err := credprovider.DecodeResponse([]byte(out), version); code != pluginsdk.ExitOK || err != nil || problems != "" {
				t.Errorf("Serve = %d, %q, %q: %v", code, out, problems, err)
			}
		})
	}
	for name, c := range map[string]struct {
		handler pluginsdk.Handler
		in      string
		code    int
		want    string
	}{
		"not a request":   {none, "", pluginsdk.ExitProtocol, "not a message"},
		"unknown version": {none, line("credentialprovider.kubelet.k8s.io/v9", ""), pluginsdk.ExitProtocol, "version"},
		"too much":        {none, strings.Repeat(" ", pluginsdk.MaxRequestBytes+1), pluginsdk.ExitProtocol, "too large"},
		"no cacheKeyType": {func(context.Context, credprovider.Request) (credprovider.Response, error) {
			return credprovider.Response{}, nil
		}, line(credprovider.V1, ""), pluginsdk.ExitProtocol, "cacheKeyType"},
		"another version": {func(context.Context, credprovider.Request) (credprovider.Response, error) {
			return credprovider.Response{APIVersion: credprovider.V1beta1, CacheKeyType: credprovider.KeyImage}, nil
		}, line(credprovider.V1, ""), pluginsdk.ExitProtocol, "the answer is in"},
		"the handler errs": {func(context.Context, credprovider.Request) (credprovider.Response, error) {
			return credprovider.Response{}, errors.New("registry says no")
		}, line(credprovider.V1, ""), pluginsdk.ExitRefused, "registry says no"},
	} {
		t.Run("CRP-24 "+name, func(t *testing.T) {
			code, out, problems := serve(c.handler, c.in)
			if code != c.code || out != "" || !strings.Contains(problems, c.want) || strings.Count(problems, "\n") != 1 {
				t.Errorf("Serve = %d, %q, %q, want %d and %q", code, out, problems, c.code, c.want)
			}
		})
	}
	t.Run("CRP-22 the token of a handler's error is cut out", func(t *testing.T) {
		_, _, problems := serve(func(_ context.Context, r credprovider.Request) (credprovider.Response, error) {
			return credprovider.Response{}, fmt.Errorf("bad token %s", r.ServiceAccountToken.Reveal())
		}, line(credprovider.V1, `,"serviceAccountToken":"hunter2"`))
		if problems != "bad token [redacted]\n" {
			t.Errorf("problems = %q", problems)
		}
	})
}

func ExampleServe() {
	handler := func(_ context.Context, r credprovider.Request) (credprovider.Response, error) {
		return credprovider.Response{
			CacheKeyType: credprovider.KeyRegistry,
			Auth:         map[string]credprovider.AuthConfig{"reg.io": {Username: "robot", Password: redact.New("for " + r.Image)}},
		}, nil
	}
	in := strings.NewReader(`{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"reg.io/app"}`)
	var out bytes.Buffer
	fmt.Println(pluginsdk.Serve(context.Background(), handler, in, &out, &out))
	fmt.Print(out.String())
	// Output:
	// 0
	// {"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","auth":{"reg.io":{"username":"robot","password":"for reg.io/app"}}}
}
