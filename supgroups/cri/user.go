package cri

import (
	"github.com/opencontainers/runtime-spec/specs-go"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/internal/imageuser"
)

// ProcessUser returns who as the user of an OCI process. AdditionalGids is ascending and contains the primary group, so
// that a process cannot drop it and pass a permission that denies it (CVE-2022-2989 and its kin). Umask and Username
// are unset.
func ProcessUser(who supgroups.Identity) specs.User {
	return specs.User{UID: who.UID, GID: who.GID, AdditionalGids: who.GIDs()}
}

// StatusUser returns ContainerStatus.user for the first process of a container, as the OCI runtime was told to start
// it, groups in the same order. It is nil without a process.
//
// Source: KEP-3619, user in ContainerStatus.
func StatusUser(p *specs.Process) *runtimeapi.ContainerUser {
	if p == nil {
		return nil
	}
	groups := make([]int64, len(p.User.AdditionalGids))
	for i, gid := range p.User.AdditionalGids {
		groups[i] = int64(gid)
	}
	return &runtimeapi.ContainerUser{Linux: &runtimeapi.LinuxContainerUser{
		Uid: int64(p.User.UID), Gid: int64(p.User.GID), SupplementalGroups: groups,
	}}
}

// SetImageUser sets Uid or Username of an image's status from config.User, leaving both unset when it is empty. The
// kubelet sends one of them back as the user of a container that asks for none. A group part has no place in CRI and is
// lost.
func SetImageUser(image *runtimeapi.Image, configUser string) {
	image.Uid = nil
	uid, name := imageuser.Split(configUser)
	if uid != nil {
		image.Uid = &runtimeapi.Int64Value{Value: *uid}
	}
	image.Username = name
}
