package suite

import (
	"context"
	"fmt"
	"slices"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	userInStatus = "KEP-3619, user in ContainerStatus"
	userSays     = "User holds user information of the container process"
)

// statusCases are about ContainerStatus.user.
func statusCases() []Case {
	return []Case{
		groupCase("status-user-filled", userInStatus, userSays, "fill ContainerStatus.user.linux", statusCase(false)),
		groupCase("status-user-true", userInStatus, userSays, "fill ContainerStatus.user.linux from what the low-level runtime was told", statusCase(true)),
	}
}

// statusCase looks at the status under both policies; a runtime that leaves the user out fails the first case only.
func statusCase(compare bool) func(context.Context, *node) observation {
	return func(ctx context.Context, n *node) (o observation) {
		for _, policy := range []runtimeapi.SupplementalGroupsPolicy{merge, strict} {
			o = o.and(n.statusUser(ctx, ask{uid: new(int64(1000)), gid: new(int64(1001)), policy: policy}, compare))
		}
		return o
	}
}

func (n *node) statusUser(ctx context.Context, a ask, compare bool) observation {
	id, m, o := n.runAs(ctx, a)
	if id == "" {
		return o
	}
	defer n.remove(id)
	resp, err := n.client.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		return trouble(fmt.Errorf("ContainerStatus: %w", err))
	}
	user := resp.GetStatus().GetUser().GetLinux()
	switch {
	case user == nil && compare:
		return observation{Skipped: "the status has no user"}
	case user == nil:
		return broken("ContainerStatus", a.String(), "no user")
	}
	said := identity{user.GetUid(), user.GetGid(), slices.Sorted(slices.Values(user.GetSupplementalGroups()))}
	o.Shown = true
	if got := of(m.First); compare && !said.equal(got) {
		o = o.and(broken("ContainerStatus", a.String(), "%s, but the first process has %s", said, got))
	}
	return o
}
