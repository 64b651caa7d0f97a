package issuer

import (
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/login"
)

// User is somebody who may log in.
type User struct {
	// Password is compared with the request's.
	Password string
	// Groups are in the user's certificates.
	Groups []string
	// Namespace and Account are the service account of the user's tokens; an empty account has none.
	Namespace, Account string
	// Lifetime is how long a credential is good for, as the client is told; plugins tell it in whole seconds, rounded
	// down. A token itself lives for ten minutes at least and a certificate a minute longer, for clocks that differ.
	Lifetime time.Duration
}

// Options say with what credentials are made. Both are needed.
type Options struct {
	// Authority signs the certificates, and the service's own.
	Authority *ca.Authority
	// Accounts may create tokens of service accounts.
	Accounts kubernetes.Interface
}

// Service is a running login service. Close it.
type Service struct {
	options Options
	server  http.Server
	url     string

	mu     sync.Mutex
	users  map[string]User
	down   bool
	asked  map[string]int
	issued map[string]int
}

// Start starts the service on a free port of loopback. Nobody may log in yet.
func Start(o Options) (*Service, error) {
	pair, err := o.Authority.Server("127.0.0.1")
	if err != nil {
		return nil, err
	}
	certificate, err := pair.TLS()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Service{
		options: o, url: "https://" + listener.Addr().String(),
		users: map[string]User{}, asked: map[string]int{}, issued: map[string]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+login.Path, s.login)
	s.server = http.Server{
		Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ReadTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0), // a plugin that is killed is nothing to tell
	}
	go s.server.ServeTLS(listener, "", "")
	return s, nil
}

// URL is where plugins log in.
func (s *Service) URL() string { return s.url }

// Close ends the service and the requests in flight.
func (s *Service) Close() error { return s.server.Close() }

// Add lets the user log in, or changes what the user gets from now on.
func (s *Service) Add(name string, user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[name] = user
}

// Asked is how often the user has tried to log in.
func (s *Service) Asked(user string) int { return s.count(s.asked, user) }

// Issued is the number of credentials that the user was given.
func (s *Service) Issued(user string) int { return s.count(s.issued, user) }

func (s *Service) count(of map[string]int, user string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return of[user]
}

// SetDown has the service answer 503, or work again.
func (s *Service) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// maxRequestBytes bounds a request.
const maxRequestBytes = 64 << 10 // 64 KiB

func (s *Service) login(w http.ResponseWriter, r *http.Request) {
	var request login.Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(&request); err != nil {
		http.Error(w, "no login request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked[request.User]++
	down := s.down
	user, known := s.users[request.User]
	s.mu.Unlock()
	right := subtle.ConstantTimeCompare([]byte(user.Password), []byte(request.Password)) == 1
	switch {
	case down:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case !known || !right:
		http.Error(w, "name or password is wrong", http.StatusForbidden)
	default:
		s.answer(w, r, request, user)
	}
}

func (s *Service) answer(w http.ResponseWriter, r *http.Request, request login.Request, user User) {
	answer, err := s.issue(r.Context(), request, user)
	if err != nil {
		http.Error(w, "not issued", http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	s.issued[request.User]++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a client that is gone asks again
}
