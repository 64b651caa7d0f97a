package webhook

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

const secretPath = "abcdefghijklmnopqrstuvwxyz0123456789"

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key, a.pem, _ = issue(t, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

func issue(t *testing.T, by *authority, template *x509.Certificate) (cert *x509.Certificate, key *ecdsa.PrivateKey, certPEM, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, _ = rand.Int(rand.Reader, big.NewInt(1<<62))
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

// serving returns a certificate for the loopback address.
func (a *authority) serving(t *testing.T) (certPEM, keyPEM []byte) {
	t.Helper()
	_, _, certPEM, keyPEM = issue(t, a, &x509.Certificate{
		Subject: pkix.Name{CommonName: "webhook"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return certPEM, keyPEM
}

// client returns a client certificate with the name.
func (a *authority) client(t *testing.T, name string, use x509.ExtKeyUsage) *tls.Certificate {
	t.Helper()
	_, _, certPEM, keyPEM := issue(t, a, &x509.Certificate{Subject: pkix.Name{CommonName: name}, DNSNames: []string{name + ".example"}, ExtKeyUsage: []x509.ExtKeyUsage{use}})
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return &pair
}

// rig is a webhook that runs, and its surroundings.
type rig struct {
	t         *testing.T
	api       *api
	authority *authority
	dir       string
	key       token.Key
	options   Options

	serve, metrics string
	stop           context.CancelFunc
	ended          chan error
}

func (r *rig) file(name string, content []byte) string {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	// As a mounted Secret changes: at once.
	if err := os.WriteFile(name+".new", content, 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		r.t.Fatal(err)
	}
	return name
}

// newRig has a pod shop/cart on a ready node.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, api: newAPI(t), authority: newAuthority(t), dir: t.TempDir(), key: token.NewKey(), ended: make(chan error, 1)}
	r.api.pods = []corev1.Pod{runningPod("shop", "cart")}
	r.api.leases = []coordinationv1.Lease{nodeLease("lanyard-system", readiness.Readiness{
		Keys:     []string{r.key.Public().ID().String()},
		Handlers: map[string]readiness.Handler{"": {Since: time.Now().Add(-time.Hour), Mode: readiness.ModeDropIn}},
	})}
	certPEM, keyPEM := r.authority.serving(t)
	r.options = Options{
		Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0",
		CertFile: r.file("tls.crt", certPEM), KeyFile: r.file("tls.key", keyPEM),
		PathSecretFile: r.file("path", []byte(secretPath+"\n")), SigningKeyFile: r.file("key", []byte(r.key.Reveal())),
		Kubeconfig: r.api.kubeconfig(t), Namespace: "lanyard-system",
		RecordsFile: filepath.Join(r.dir, "records"), AuditFile: filepath.Join(r.dir, "audit"),
		Unready: "allow", Unrecorded: "refuse", Lifetime: time.Minute, Timeout: 3 * time.Second, reload: time.Millisecond,
	}
	return r
}

func (r *rig) start() {
	r.t.Helper()
	if err := r.options.Validate(); err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	listening := make(chan [2]net.Addr, 1)
	r.options.listening = func(serve, metrics net.Addr) { listening <- [2]net.Addr{serve, metrics} }
	go func() { r.ended <- run(ctx, r.options, slog.New(slog.DiscardHandler)) }()
	r.t.Cleanup(stop)
	select {
	case at := <-listening:
		r.serve, r.metrics = "https://"+at[0].String(), "http://"+at[1].String()
	case err := <-r.ended:
		r.t.Fatal(err)
	}
}

// end stops the webhook and returns what it ended with.
func (r *rig) end() error {
	r.stop()
	return <-r.ended
}

// caller returns a client that trusts the rig's authority.
func (r *rig) caller(cert *tls.Certificate) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.authority.pem)
	config := &tls.Config{RootCAs: pool}
	if cert != nil {
		config.Certificates = []tls.Certificate{*cert}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (r *rig) post(client *http.Client, path string, body []byte) (int, []byte) {
	r.t.Helper()
	response, err := client.Post(r.serve+path, "application/json", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, got
}

// exec is a review of alice's exec.
func execReview(t *testing.T, pod string, command ...string) []byte {
	t.Helper()
	options, err := json.Marshal(corev1.PodExecOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodExecOptions"}, Command: command})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "u-1", Operation: admissionv1.Connect, Namespace: "shop", Name: pod,
			Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"}, SubResource: "exec",
			UserInfo: authenticationv1.UserInfo{Username: "alice"}, Object: runtime.RawExtension{Raw: options},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// exec posts an exec to /mutate and returns the response.
func (r *rig) exec(client *http.Client, path, pod string) *admissionv1.AdmissionResponse {
	r.t.Helper()
	status, body := r.post(client, path, execReview(r.t, pod, "id"))
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil || status != http.StatusOK || review.Response == nil {
		r.t.Fatalf("status %d: %s", status, body)
	}
	return review.Response
}

func (r *rig) get(url string) (int, string) {
	r.t.Helper()
	response, err := http.Get(url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (r *rig) records() []sessions.Record {
	r.t.Helper()
	data, err := os.ReadFile(r.options.RecordsFile)
	if err != nil {
		r.t.Fatal(err)
	}
	var all []sessions.Record
	for record, err := range sessions.Read(bytes.NewReader(data), "records") {
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, record)
	}
	return all
}
