package restconfig

import (
	"os"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/pluginsdk"
	"k8s.io/client-go/rest"
)

// LoadExecCredentialFromEnv is [LoadExecCredential] of the variable KUBERNETES_EXEC_INFO. The error is
// [pluginsdk.ErrNoInfo] when it is unset or empty.
func LoadExecCredentialFromEnv() (*execcredential.ExecCredential, *rest.Config, error) {
	info := os.Getenv(execcredential.InfoEnv)
	if info == "" {
		return nil, nil, pluginsdk.ErrNoInfo
	}
	return LoadExecCredential([]byte(info))
}

// LoadExecCredential reads an ExecCredential of any version and makes an anonymous configuration of its cluster
// information.
//
// Without cluster information the configuration is nil and so is the error (KEP-541, Provider input format), where
// client-go's function of that name returns an error. Errors: those of [execcredential.Parse] and of [ToREST].
func LoadExecCredential(data []byte) (*execcredential.ExecCredential, *rest.Config, error) {
	object, err := execcredential.Parse(data)
	if err != nil {
		return nil, nil, err
	}
	if object.Spec.Cluster == nil {
		return object, nil, nil
	}
	config, err := ToREST(*object.Spec.Cluster)
	if err != nil {
		return nil, nil, err
	}
	return object, config, nil
}
