package e2e_test

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

// refusals has the server answer 401 to credentials that look good.
func (l *logins) refusals(t *testing.T) {
	t.Run("ECR-9 a token that the server has revoked is replaced, and a repeating client does not notice", func(t *testing.T) {
		l.revoked(t, "revoked-repeat", true)
	})
	t.Run("ECR-9 without repeat the caller sees the first 401 and no second", func(t *testing.T) {
		l.revoked(t, "revoked", false)
	})
	t.Run("ECR-9 with 5% of 401s no caller sees one when repeat is on: concurrent requests and an informer", func(t *testing.T) {
		i, client := l.through(t, "patient", true)
		seen := watchMaps(t, client, "patient", 1)
		done, refused := []string{}, 0
		for round := range 5 {
			done = append(done, l.change(t, "patient", round)...)
			refused += askMany(t, client, 16, 10)
		}
		await(t, "the last events", func() bool { return seen.count() >= len(done) })
		if got := seen.all(); !slices.Equal(got, done) {
			t.Errorf("the informer saw\n%v\nwant\n%v", got, done)
		}
		if got := int(i.refused.Load()); refused != 0 || got < 30 {
			t.Errorf("callers saw %d of %d injected 401s, want none of at least 30", refused, got)
		}
		if runs, injected := l.service.Issued("patient"), int(i.refused.Load()); runs > injected+1 {
			t.Errorf("%d logins for %d 401s, want at most one for each and the first", runs, injected)
		}
	})
	t.Run("ECR-9 and without it they see every one", func(t *testing.T) {
		i, client := l.through(t, "impatient", false)
		if got := askMany(t, client, 8, 20); got != int(i.refused.Load()) || got == 0 {
			t.Errorf("callers saw %d of %d injected 401s, want all", got, i.refused.Load())
		}
	})
}

// revoked replaces the account between two requests, which ends its tokens.
func (l *logins) revoked(t *testing.T, user string, repeat bool) {
	client := wrapped(t, newPool(t, transport.Options{Repeat: repeat}), configOf(t, l.user(t, user, login.Token, lasting)))
	get := func() error {
		_, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	accounts := l.Admin().CoreV1().ServiceAccounts("default")
	if err := accounts.Delete(t.Context(), "login", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "login"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := get(); apierrors.IsUnauthorized(err) == repeat || repeat && err != nil {
		t.Errorf("the first request after = %v with repeat %v", err, repeat)
	}
	if err := get(); err != nil {
		t.Errorf("the second request after = %v", err)
	}
	if got := l.service.Issued(user); got != 2 {
		t.Errorf("%d logins, want 2", got)
	}
}

// askMany has callers read and write at once and returns how many 401s they saw; any
// other error is the test's.
func askMany(t *testing.T, client kubernetes.Interface, callers, requests int) int {
	t.Helper()
	var refused atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for n := range requests {
				var err error
				if n%2 == 0 {
					_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{Limit: 1})
				} else {
					_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(),
						&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "asked-"}}, metav1.CreateOptions{})
				}
				if apierrors.IsUnauthorized(err) {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return int(refused.Load())
}

// injector stands before the API server and answers 401 to one request in twenty,
// never twice in a row to the same.
type injector struct {
	proxy    *httputil.ReverseProxy
	mu       sync.Mutex
	requests int
	known    map[string]bool
	refused  atomic.Int64
}

// serial is the header by which the injector knows a request when it comes again.
const serial = "Request-Serial"

func (i *injector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !i.refuses(r.Header.Get(serial)) {
		i.proxy.ServeHTTP(w, r)
		return
	}
	i.refused.Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintln(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`)
}

func (i *injector) refuses(request string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known[request] {
		return false
	}
	i.known[request] = true
	i.requests++
	return i.requests%20 == 0
}

// through starts an injector and returns a client that has to pass it.
func (l *logins) through(t *testing.T, user string, repeat bool) (*injector, *kubernetes.Clientset) {
	t.Helper()
	config := configOf(t, l.user(t, user, login.Token, lasting))
	target, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	toServer, err := rest.TLSConfigFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	i := &injector{proxy: httputil.NewSingleHostReverseProxy(target), known: map[string]bool{}}
	i.proxy.Transport = &http.Transport{TLSClientConfig: toServer, MaxIdleConnsPerHost: 32}
	i.proxy.FlushInterval = -1
	server := httptest.NewUnstartedServer(i)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	config.Host = server.URL
	// The plugin is told these roots; it needs the stack's for its own service.
	config.CAData = append(slices.Clone(config.CAData), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})...)
	var count atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set(serial, strconv.FormatInt(count.Add(1), 10))
			return next.RoundTrip(r)
		})
	})
	return i, wrapped(t, newPool(t, transport.Options{Repeat: repeat}), config)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
