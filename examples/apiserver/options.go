package apiserver

import (
	"crypto/ecdsa"
	"net"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/component-base/featuregate"

	"github.com/lanyard-dev/lanyard/examples/apiserver/memory"
	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/execaudit"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// Options of a server. Serving, ClientCA, KubeletClient and KubeletCA are required.
type Options struct {
	// Listener is where to serve; nil means a free port of 127.0.0.1. The server closes it.
	Listener net.Listener
	// Serving is the certificate that clients see.
	Serving ca.Pair
	// ClientCA, PEM, signs the certificates of clients.
	ClientCA []byte
	// KubeletClient is the certificate that kubelets see; its user needs the rights of system:kubelet-api-admin there.
	KubeletClient ca.Pair
	// KubeletCA, PEM, signs the serving certificates of kubelets.
	KubeletCA []byte

	// TokenFile holds static tokens, one "token,user,uid,\"group,group\"" a line; "" means none.
	TokenFile string
	// Anonymous lets requests without credentials in as system:anonymous. RBAC decides what they may do.
	Anonymous bool
	// ServiceAccountKey, P-256, signs service account tokens; nil means a new one, and tokens die with the server.
	ServiceAccountKey *ecdsa.PrivateKey
	// Issuer is the iss claim of tokens; "" means the server's own URL, where the discovery document is.
	Issuer string
	// Audiences are the server's own; nil means the issuer alone.
	Audiences []string

	// Minor is the Kubernetes minor version to play; 0 means gates.MaxMinor, and a newer one is treated as that and
	// logged. It decides which gates there are.
	Minor int
	// Gates are the feature gates; nil means those of Minor at their defaults.
	Gates featuregate.MutableVersionedFeatureGate
	// Reserved says which environment names callers may not send.
	Reserved execaudit.Reserved
	// ClientAuditIDs says what becomes of an Audit-ID header that a client set.
	ClientAuditIDs execapi.ClientIDs

	// Audit is the policy and the log; nil audits nothing, and exec sessions still have an ID.
	Audit *genericoptions.AuditOptions
	// Admission holds further plugins, asked in this order before the server's own: first all that change, then all
	// that validate.
	Admission []admission.Interface

	// Backend holds the objects; nil means a new one. One that is given outlives the server.
	Backend *memory.Backend
	// Objects are created at start when they are not there, before the server listens.
	Objects []runtime.Object
}
