package registryauth

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/lanyard-dev/lanyard/examples/registryauth/workload"
)

// MaxRequest is the largest request for a password that is read.
const MaxRequest = 1 << 20 // 1 MiB

// Request asks for a password. It is a secret.
type Request struct {
	Token      string `json:"token"`
	Repository string `json:"repository"`
	// Annotations are what the plugin was told about the service account; the front only notes them.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Response is a password. It is a secret.
type Response struct {
	Username         string `json:"username"`
	Password         string `json:"password"`
	ExpiresInSeconds int    `json:"expiresInSeconds"`
}

// Exchange is one request for a password by a workload that proved who it is.
type Exchange struct {
	Workload    workload.Workload
	Repository  string
	Annotations map[string]string
	Granted     bool
}

// Exchanges returns those there were, in their order.
func (f *Front) Exchanges() []Exchange {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.exchanges)
}

// exchange believes nobody: the plugin checks the token for good messages, the front
// because anybody can ask.
func (f *Front) exchange(w http.ResponseWriter, r *http.Request) {
	var request Request
	if err := json.NewDecoder(io.LimitReader(r.Body, MaxRequest)).Decode(&request); err != nil || r.Method != http.MethodPost {
		http.Error(w, "want a POST with a JSON body", http.StatusBadRequest)
		return
	}
	who, err := f.options.Verifier.Verify(r.Context(), request.Token)
	if errors.Is(err, workload.ErrRejected) {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	password, granted := f.issue(who, request)
	if !granted {
		http.Error(w, who.Account()+" may not pull "+request.Repository, http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Response{who.Account(), password, int(f.options.Lifetime / time.Second)}) // the client is gone when this errs
}

func (f *Front) issue(who workload.Workload, request Request) (password string, granted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	granted = slices.Contains(f.grants[who.Account()], request.Repository)
	f.exchanges = append(f.exchanges, Exchange{who, request.Repository, request.Annotations, granted})
	if !granted {
		return "", false
	}
	return f.newPassword(who.Account(), request.Repository), true
}
