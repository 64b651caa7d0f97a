package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestSecretPath(t *testing.T) {
	r := newRig(t)
	r.start()
	client := r.caller(nil)
	t.Run("BRG-12 the secret path is served, over HTTP/2, and the session recorded", func(t *testing.T) {
		got := r.exec(client, "/"+secretPath+"/mutate?timeout=5s", "cart")
		all := r.records()
		if got.AuditAnnotations["outcome"] != "marked" || len(all) != 1 || all[0].Session.String() != got.AuditAnnotations["session"] || all[0].User.Name != "alice" {
			t.Fatalf("%+v, records %+v", got, all)
		}
		if got := r.exec(client, "/"+secretPath+"/validate", "cart"); got.AuditAnnotations["outcome"] != "unmarked: the mutating webhook was not asked" {
			t.Fatalf("%+v", got)
		}
	})
	for _, path := range []string{"/mutate", "/" + secretPath[1:] + "/mutate", "/" + secretPath + "x/mutate", "//mutate", "/" + secretPath, "/" + secretPath + "/", "/" + secretPath + "/other"} {
		t.Run("BRG-12 no other path is there: "+strings.ReplaceAll(path, secretPath, "SECRET"), func(t *testing.T) {
			status, body := r.post(client, path, execReview(t, "cart", "id"))
			if status != http.StatusNotFound || strings.Contains(string(body), "abc") {
				t.Fatalf("status %d: %s", status, body)
			}
		})
	}
	t.Run("BRG-12 strangers are counted", func(t *testing.T) {
		if _, body := r.get(r.metrics + "/metrics"); !strings.Contains(body, `lanyard_bridge_strangers_total{lacked="path"} 4`) {
			t.Fatalf("%s", body)
		}
	})
	t.Run("BRG-12 a new secret path is taken without a restart", func(t *testing.T) {
		other := strings.Repeat("Z", 30)
		r.file("path", []byte(secretPath+"\n"+other+"\n"))
		eventually(t, "both are served", func() bool {
			status, _ := r.post(client, "/"+other+"/mutate", execReview(t, "cart", "id"))
			return status == http.StatusOK
		})
		r.exec(client, "/"+secretPath+"/mutate", "cart")
		r.file("path", []byte(other))
		eventually(t, "the old one is not", func() bool {
			status, _ := r.post(client, "/"+secretPath+"/mutate", execReview(t, "cart", "id"))
			return status == http.StatusNotFound
		})
		r.file("path", []byte("short"))
		eventually(t, "one that cannot be used is counted", func() bool {
			_, body := r.get(r.metrics + "/metrics")
			return strings.Contains(body, `lanyard_bridge_unreadable_total{file="`+r.options.PathSecretFile+`"}`)
		})
		r.exec(client, "/"+other+"/mutate", "cart")
	})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
}

func TestClientCertificate(t *testing.T) {
	r := newRig(t)
	r.options.PathSecretFile = ""
	callers, others := newAuthority(t), newAuthority(t)
	r.options.ClientCAFile = r.file("clients.crt", callers.pem)
	r.options.ClientNames = []string{"apiserver", "other.example"}
	r.start()
	for name, test := range map[string]struct {
		cert   *tls.Certificate
		status int
	}{
		"the API server's":           {callers.client(t, "apiserver", x509.ExtKeyUsageClientAuth), http.StatusOK},
		"one with the DNS name":      {callers.client(t, "other", x509.ExtKeyUsageClientAuth), http.StatusOK},
		"none":                       {nil, http.StatusForbidden},
		"another name's":             {callers.client(t, "alice", x509.ExtKeyUsageClientAuth), http.StatusForbidden},
		"another authority's":        {others.client(t, "apiserver", x509.ExtKeyUsageClientAuth), http.StatusForbidden},
		"one that is for servers":    {callers.client(t, "apiserver", x509.ExtKeyUsageServerAuth), http.StatusForbidden},
		"the serving certificate's ": {r.authority.client(t, "apiserver", x509.ExtKeyUsageClientAuth), http.StatusForbidden},
	} {
		t.Run("BRG-12 client certificate: "+name, func(t *testing.T) {
			if status, body := r.post(r.caller(test.cert), "/mutate", execReview(t, "cart", "id")); status != test.status {
				t.Fatalf("status %d, want %d: %s", status, test.status, body)
			}
		})
	}
	t.Run("BRG-12 new authorities count for open connections too", func(t *testing.T) {
		client := r.caller(callers.client(t, "apiserver", x509.ExtKeyUsageClientAuth))
		r.exec(client, "/mutate", "cart")
		r.file("clients.crt", others.pem)
		eventually(t, "the old authority's is refused", func() bool {
			status, _ := r.post(client, "/mutate", execReview(t, "cart", "id"))
			return status == http.StatusForbidden
		})
	})
	t.Run("BRG-9 a new serving certificate is used without a restart", func(t *testing.T) {
		other := newAuthority(t)
		certPEM, keyPEM := other.serving(t)
		r.file("tls.crt", certPEM) // for a moment it does not fit the key
		r.file("tls.key", keyPEM)
		r.authority = other
		eventually(t, "the new one is served", func() bool {
			response, err := r.caller(nil).Get(r.serve + "/mutate")
			if err != nil {
				return false
			}
			return response.Body.Close() == nil
		})
	})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
}

func TestBoth(t *testing.T) {
	r := newRig(t)
	callers := newAuthority(t)
	r.options.ClientCAFile = r.file("clients.crt", callers.pem)
	r.start()
	cert := callers.client(t, "any", x509.ExtKeyUsageClientAuth)
	t.Run("BRG-12 path and certificate: both must be right", func(t *testing.T) {
		r.exec(r.caller(cert), "/"+secretPath+"/mutate", "cart")
		if status, _ := r.post(r.caller(cert), "/mutate", nil); status != http.StatusNotFound {
			t.Fatalf("status %d without the path", status)
		}
		if status, _ := r.post(r.caller(nil), "/"+secretPath+"/mutate", nil); status != http.StatusForbidden {
			t.Fatalf("status %d without the certificate", status)
		}
	})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
}

func TestKeysChange(t *testing.T) {
	r := newRig(t)
	r.start()
	client := r.caller(nil)
	t.Run("BRG-2 a new key is used where the node has it, without a restart", func(t *testing.T) {
		events := make(chan chan<- metav1.WatchEvent, 1)
		go func() {
			for w := range r.api.watching {
				if w.resource == "leases" {
					events <- w.events
				}
			}
		}()
		newest := token.NewKey()
		r.file("key", []byte(newest.Reveal()+"\n"+r.key.Reveal()+"\n"))
		signedBy := func() token.KeyID {
			response := r.exec(client, "/"+secretPath+"/mutate", "cart")
			var patch []admission.Operation
			if err := json.Unmarshal(response.Patch, &patch); err != nil {
				t.Fatalf("%v: %+v", err, response)
			}
			_, id, err := token.Parse(patch[0].Value.(string))
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		for range 20 {
			if id := signedBy(); id != r.key.Public().ID() {
				t.Fatalf("signed by %s, which the node does not have", id)
			}
		}
		lease := nodeLease("lanyard-system", readiness.Readiness{
			Keys:     []string{r.key.Public().ID().String(), newest.Public().ID().String()},
			Handlers: map[string]readiness.Handler{"": {Since: time.Now().Add(-time.Hour), Mode: readiness.ModeDropIn}},
		})
		lease.ResourceVersion = "2"
		(<-events) <- watchEvent(t, "MODIFIED", &lease)
		eventually(t, "the new key signs", func() bool { return signedBy() == newest.Public().ID() })
	})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
}
