package stack

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/stack/process"
)

// auditPolicy records every session with its options and everything else briefly.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Request
  resources:
  - group: ""
    resources: ["pods/exec", "pods/attach", "pods/portforward", "nodes/proxy"]
- level: None
  userGroups: ["system:nodes"]
- level: None
  nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi*"]
- level: Metadata
`

// kubeletAccess lets the API server use the kubelets' API.
const kubeletAccess = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: lanyard:kubelet-client}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:kubelet-api-admin"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ` + kubeletClientUser + `}]
`

func (s *Stack) startAPIServer(ctx context.Context) (err error) {
	if s.address, err = freePort(); err != nil {
		return err
	}
	if s.adminFile, err = s.User(Admin, "system:masters"); err != nil {
		return err
	}
	if s.admin, err = Client(s.adminFile); err != nil {
		return err
	}
	return s.launchAPIServer(ctx)
}

func (s *Stack) launchAPIServer(ctx context.Context) error {
	program, err := parts.Find("lanyard-apiserver")
	if err != nil {
		return err
	}
	flags, err := s.apiServerFlags()
	if err != nil {
		return err
	}
	s.apiserver = process.New(process.Options{
		Name: "API server", Path: program, Args: flags,
		Log: filepath.Join(s.options.Dir, "apiserver.log"), Ready: answersReadyz(s.admin),
	})
	return s.apiserver.Start(ctx)
}

func (s *Stack) apiServerFlags() ([]string, error) {
	dir := s.options.Dir
	serving, err := s.authority.Server("127.0.0.1", "localhost")
	if err != nil {
		return nil, err
	}
	client, err := s.authority.Client(kubeletClientUser)
	if err != nil {
		return nil, err
	}
	servingCert, servingKey, err := writePair(dir, "apiserver", serving)
	if err != nil {
		return nil, err
	}
	clientCert, clientKey, err := writePair(dir, "kubelet-client", client)
	if err != nil {
		return nil, err
	}
	policy, access := filepath.Join(dir, "audit-policy.yaml"), filepath.Join(dir, "kubelet-access.yaml")
	for file, text := range map[string]string{policy: auditPolicy, access: kubeletAccess} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	host, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return nil, err
	}
	flags := []string{
		"--bind-address=" + host, "--secure-port=" + port,
		"--tls-cert-file=" + servingCert, "--tls-private-key-file=" + servingKey,
		"--client-ca-file=" + s.authorityFile,
		"--kubelet-certificate-authority=" + s.authorityFile,
		"--kubelet-client-certificate=" + clientCert, "--kubelet-client-key=" + clientKey,
		"--objects=" + access,
		"--audit-policy-file=" + policy, "--audit-log-path=" + s.AuditLog(),
	}
	if s.options.ExecGates {
		flags = append(flags, "--feature-gates=ExecEnvVar=true,ExecRequestID=true")
	}
	for _, file := range s.options.Manifests {
		flags = append(flags, "--objects="+file)
	}
	return append(flags, s.options.APIServerFlags...), nil
}

func answersReadyz(client *kubernetes.Clientset) func(context.Context) error {
	return func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}
}

// writePair writes a certificate and its key, the key for its owner only.
func writePair(dir, name string, pair ca.Pair) (certificate, key string, err error) {
	certificate, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	if err := os.WriteFile(certificate, pair.Cert, 0o644); err != nil {
		return "", "", err
	}
	return certificate, key, os.WriteFile(key, pair.Key, 0o600)
}
