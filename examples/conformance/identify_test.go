package conformance_test

import (
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups/cri"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

type securityContext = runtimeapi.LinuxContainerSecurityContext

// identify says as whom a container runs, as runtime.Config.Identify.
type identify func(dir, imageUser string, sc *securityContext) (specs.User, error)

func identifies(dir, imageUser string, sc *securityContext) (specs.User, error) {
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
	return cri.ProcessUser(who), err
}

// misreads changes what the pod asks for.
func misreads(change func(*securityContext)) identify {
	return func(dir, imageUser string, sc *securityContext) (specs.User, error) {
		sc = proto.Clone(sc).(*securityContext)
		change(sc)
		return identifies(dir, imageUser, sc)
	}
}

// strictly forgets the image's groups, also where nobody asked for that.
func strictly(sc *securityContext) {
	if sc.SupplementalGroupsPolicy == runtimeapi.SupplementalGroupsPolicy_Merge {
		sc.SupplementalGroupsPolicy = runtimeapi.SupplementalGroupsPolicy_Strict
	}
}

func leniently(sc *securityContext) {
	if sc.SupplementalGroupsPolicy == runtimeapi.SupplementalGroupsPolicy_Strict {
		sc.SupplementalGroupsPolicy = runtimeapi.SupplementalGroupsPolicy_Merge
	}
}

func mergesUnknown(sc *securityContext) {
	if sc.SupplementalGroupsPolicy > runtimeapi.SupplementalGroupsPolicy_Strict {
		sc.SupplementalGroupsPolicy = runtimeapi.SupplementalGroupsPolicy_Merge
	}
}

func wrapsGroups(sc *securityContext) {
	for i, g := range sc.SupplementalGroups {
		sc.SupplementalGroups[i] = int64(uint32(g))
	}
}

func wrapsUser(sc *securityContext) {
	if sc.RunAsUser != nil {
		sc.RunAsUser.Value = int64(uint32(sc.RunAsUser.Value))
	}
}

func wrapsGroup(sc *securityContext) {
	if sc.RunAsGroup != nil {
		sc.RunAsGroup.Value = int64(uint32(sc.RunAsGroup.Value))
	}
}

func userWins(sc *securityContext) {
	if sc.RunAsUser != nil {
		sc.RunAsUsername = ""
	}
}

func groupAlone(sc *securityContext) {
	if sc.RunAsGroup != nil && sc.RunAsUser == nil && sc.RunAsUsername == "" {
		sc.RunAsGroup = nil
	}
}

func unknownIsRoot(dir, imageUser string, sc *securityContext) (specs.User, error) {
	who, err := identifies(dir, imageUser, sc)
	if err != nil && sc.GetRunAsUsername() != "" {
		return specs.User{AdditionalGids: []uint32{0}}, nil
	}
	return who, err
}

// forgetsImageGroup reads "user:group" as "user".
func forgetsImageGroup(dir, imageUser string, sc *securityContext) (specs.User, error) {
	user, _, _ := strings.Cut(imageUser, ":")
	return identifies(dir, user, sc)
}

func forgetsPrimary(dir, imageUser string, sc *securityContext) (specs.User, error) {
	who, err := identifies(dir, imageUser, sc)
	who.AdditionalGids = slices.DeleteFunc(who.AdditionalGids, func(g uint32) bool { return g == who.GID })
	return who, err
}

func repeatsGroups(dir, imageUser string, sc *securityContext) (specs.User, error) {
	who, err := identifies(dir, imageUser, sc)
	for _, g := range sc.GetSupplementalGroups() {
		who.AdditionalGids = append(who.AdditionalGids, uint32(g))
	}
	return who, err
}
