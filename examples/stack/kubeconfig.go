package stack

import (
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// User writes a kubeconfig for a user in groups, with a client certificate of the
// stack's authority, and returns its path.
func (s *Stack) User(name string, groups ...string) (string, error) {
	pair, err := s.authority.Client(name, groups...)
	if err != nil {
		return "", err
	}
	return s.kubeconfig(name, &clientcmdapi.AuthInfo{ClientCertificateData: pair.Cert, ClientKeyData: pair.Key})
}

// Token writes a kubeconfig for the bearer of a token and returns its path.
func (s *Stack) Token(name, token string) (string, error) {
	return s.kubeconfig(name, &clientcmdapi.AuthInfo{Token: token})
}

// Plugin writes a kubeconfig for a user who logs in through an exec plugin.
func (s *Stack) Plugin(name string, exec *clientcmdapi.ExecConfig) (string, error) {
	return s.kubeconfig(name, &clientcmdapi.AuthInfo{Exec: exec})
}

func (s *Stack) kubeconfig(name string, auth *clientcmdapi.AuthInfo) (string, error) {
	file := filepath.Join(s.options.Dir, "users", name+".kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["lanyard"] = &clientcmdapi.Cluster{Server: s.URL(), CertificateAuthorityData: s.authority.PEM()}
	config.AuthInfos[name] = auth
	config.Contexts["lanyard"] = &clientcmdapi.Context{Cluster: "lanyard", AuthInfo: name}
	config.CurrentContext = "lanyard"
	return file, clientcmd.WriteToFile(*config, file)
}

// Config returns the client configuration of a kubeconfig that the stack wrote.
func Config(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 200, 400
	return config, nil
}

// Client returns a client of the API server as the user of a kubeconfig.
func Client(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := Config(kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}
