package provider

import (
	"context"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

// Pod is the workload that an image is pulled for.
type Pod struct {
	Namespace string
	Name      string
	UID       string
	// ServiceAccount is the name of its service account; empty for static pods and mirror pods.
	ServiceAccount string
}

// AccountSource finds service accounts, such as a GET of the API server.
type AccountSource interface {
	// ServiceAccount returns the service account as it is now, with its UID. Another one than was asked for, or one
	// without a UID, is refused with ErrOtherAccount.
	ServiceAccount(ctx context.Context, namespace, name string) (credprovider.ServiceAccount, error)
}

// TokenRequest asks for a token of a service account, bound to a pod.
type TokenRequest struct {
	// Account is the service account; its UID is a precondition of the request.
	Account credprovider.AccountRef
	// Audience is the only audience of the token.
	Audience string
	// PodName and PodUID are the pod that the token is bound to.
	PodName string
	PodUID  string
}

// Token is a service account token.
type Token struct {
	Value redact.Text
	// Expires is when it stops being valid. A token without is used once and never kept.
	Expires time.Time
}

// TokenSource mints tokens, such as the TokenRequest of the API server.
type TokenSource interface {
	// Token returns a token with the audience of the request and no other, bound to its pod. An empty one is refused
	// with ErrEmptyToken.
	Token(ctx context.Context, request TokenRequest) (Token, error)
}

// Runner answers one request: a *plugin.Plugin, or anything else that keeps to the protocol; a [Pool] checks that it
// does. It is safe for concurrent use.
type Runner interface {
	Run(ctx context.Context, request credprovider.Request) (credprovider.Response, error)
}

// Recorder takes the measurements that upstream has. Implementations are safe for concurrent use.
type Recorder interface {
	// PluginError is one more in kubelet_credential_provider_plugin_errors_total{plugin_name}: a process that failed.
	PluginError(name string)
	// PluginDuration is an observation of kubelet_credential_provider_plugin_duration{plugin_name}, failed runs
	// included.
	PluginDuration(name string, duration time.Duration)
	// ConfigInfo is kubelet_credential_provider_config_info{hash} being 1.
	ConfigInfo(hash string)
}

type silentRecorder struct{}

func (silentRecorder) PluginError(string)                   {}
func (silentRecorder) PluginDuration(string, time.Duration) {}
func (silentRecorder) ConfigInfo(string)                    {}
