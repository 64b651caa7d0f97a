package runtime

import (
	specs "github.com/opencontainers/runtime-spec/specs-go"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups/cri"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

// identify asks supgroups as whom a container runs.
func identify(dir, imageUser string, sc *runtimeapi.LinuxContainerSecurityContext) (specs.User, error) {
	request, err := cri.ContainerRequest(sc, imageUser)
	if err != nil {
		return specs.User{}, err
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return specs.User{}, err
	}
	defer root.Close()
	who, err := root.Resolve(request)
	if err != nil {
		return specs.User{}, err
	}
	return cri.ProcessUser(who), nil
}
