package main

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/examples/apiserver/podpolicy"
	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/execaudit"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// flags are the command line; the files that it names are read by options.
type flags struct {
	address                   string
	port                      int
	servingCert, servingKey   string
	clientCA                  string
	kubeletCert, kubeletKey   string
	kubeletCA                 string
	tokenFile                 string
	serviceAccountKey, issuer string
	audiences                 []string
	anonymous, ignoreAuditIDs bool
	reservePrefix             bool
	minor                     int
	featureGates              map[string]bool
	objects                   []string
	podPolicy                 string
	audit                     *genericoptions.AuditOptions
}

func newFlags() *flags {
	return &flags{audit: genericoptions.NewAuditOptions(), featureGates: map[string]bool{}}
}

func (f *flags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.address, "bind-address", "127.0.0.1", "address to serve on")
	fs.IntVar(&f.port, "secure-port", 0, "port to serve on; 0 takes a free one")
	fs.StringVar(&f.servingCert, "tls-cert-file", "", "serving certificate")
	fs.StringVar(&f.servingKey, "tls-private-key-file", "", "key of the serving certificate")
	fs.StringVar(&f.clientCA, "client-ca-file", "", "authority of client certificates")
	fs.StringVar(&f.kubeletCert, "kubelet-client-certificate", "", "client certificate for kubelets")
	fs.StringVar(&f.kubeletKey, "kubelet-client-key", "", "key of the client certificate for kubelets")
	fs.StringVar(&f.kubeletCA, "kubelet-certificate-authority", "", "authority of kubelets' serving certificates")
	fs.StringVar(&f.tokenFile, "token-auth-file", "", "static tokens, one token,user,uid,\"groups\" a line")
	fs.StringVar(&f.serviceAccountKey, "service-account-signing-key-file", "", "key of service account tokens; made anew without")
	fs.StringVar(&f.issuer, "service-account-issuer", "", "iss claim of service account tokens; the server's URL without")
	fs.StringSliceVar(&f.audiences, "api-audiences", nil, "the server's own audiences; the issuer without")
	fs.BoolVar(&f.anonymous, "anonymous-auth", false, "let requests without credentials in as system:anonymous")
	fs.BoolVar(&f.ignoreAuditIDs, "ignore-client-audit-ids", false, "drop every Audit-ID that a client sets")
	fs.BoolVar(&f.reservePrefix, "reserve-kubernetes-prefix", false, "refuse every environment name of a caller that begins with KUBERNETES_")
	fs.IntVar(&f.minor, "emulated-minor", gates.MaxMinor, "Kubernetes minor version to play; one newer than the default is treated as the default")
	fs.Var(cliflag.NewMapStringBool(&f.featureGates), "feature-gates", "gates as NAME=BOOL")
	fs.StringArrayVar(&f.objects, "objects", nil, "YAML file of objects to create at start, repeatable")
	fs.StringVar(&f.podPolicy, "pod-policy-file", "", "YAML list of rules: as whom the pods of a namespace may run")
	f.audit.AddFlags(fs)
}

// options reads the files.
func (f *flags) options() (apiserver.Options, error) {
	gate, gateErr := gates.APIServer(f.minor)
	if gateErr == nil {
		gateErr = gate.SetFromMap(f.featureGates)
	}
	o := apiserver.Options{
		TokenFile: f.tokenFile, Anonymous: f.anonymous,
		Issuer: f.issuer, Audiences: f.audiences,
		Minor: f.minor, Gates: gate, Audit: f.audit,
	}
	if f.ignoreAuditIDs {
		o.ClientAuditIDs = execapi.ClientIDsIgnore
	}
	if f.reservePrefix {
		o.Reserved = execaudit.ReservedPrefix
	}
	var files faults
	o.Serving = ca.Pair{Cert: files.read("tls-cert-file", f.servingCert), Key: files.read("tls-private-key-file", f.servingKey)}
	o.KubeletClient = ca.Pair{Cert: files.read("kubelet-client-certificate", f.kubeletCert), Key: files.read("kubelet-client-key", f.kubeletKey)}
	o.ClientCA = files.read("client-ca-file", f.clientCA)
	o.KubeletCA = files.read("kubelet-certificate-authority", f.kubeletCA)
	o.Objects = files.load(f.objects)
	o.Admission = files.policy(f.podPolicy)
	o.ServiceAccountKey = files.signingKey(f.serviceAccountKey)
	return o, errors.Join(append(files, gateErr)...)
}

// faults collects what is wrong with the files, so that all of it is said at once.
type faults []error

func (e *faults) read(flag, file string) []byte {
	if file == "" {
		*e = append(*e, fmt.Errorf("--%s is required", flag))
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		*e = append(*e, fmt.Errorf("--%s: %w", flag, err))
	}
	return data
}

func (e *faults) load(files []string) []runtime.Object {
	var out []runtime.Object
	for _, file := range files {
		objects, err := kinds.ParseObjects(e.read("objects", file))
		if err != nil {
			*e = append(*e, fmt.Errorf("%s: %w", file, err))
		}
		out = append(out, objects...)
	}
	return out
}

// policy reads the rules for pods; nil for no file.
func (e *faults) policy(file string) []admission.Interface {
	if file == "" {
		return nil
	}
	policy, err := podpolicy.Parse(e.read("pod-policy-file", file))
	if err != nil {
		*e = append(*e, fmt.Errorf("--pod-policy-file: %w", err))
	}
	return []admission.Interface{policy}
}

// signingKey reads a P-256 key in PEM; nil for no file.
func (e *faults) signingKey(file string) *ecdsa.PrivateKey {
	if file == "" {
		return nil
	}
	block, _ := pem.Decode(e.read("service-account-signing-key-file", file))
	if block == nil {
		*e = append(*e, fmt.Errorf("--service-account-signing-key-file: no PEM block"))
		return nil
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		*e = append(*e, fmt.Errorf("--service-account-signing-key-file: %w", err))
	}
	return key
}
