package suite

import (
	"context"
	"fmt"

	"github.com/lanyard-dev/lanyard/criconformance/internal/client"
	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
)

// refusalCases are containers that must not start.
func refusalCases() []Case {
	const tooLarge, negative = int64(1) << 32, int64(-1)
	group := new(int64(1000))
	return []Case{
		groupCase("unknown-policy", "KEP-3619, SupplementalGroupsPolicy in SecurityContext", "", "refuse a policy that you do not know: taking it for Merge gives groups that somebody meant to withhold",
			isRefused(ask{uid: group, policy: 7})),
		groupCase("group-without-user", "CRI, LinuxContainerSecurityContext", "run_as_group should only be specified when run_as_user or run_as_username is specified", "refuse a group without a user",
			isRefused(ask{gid: group})),
		groupCase("unknown-username", groupsPolicy, primarySays, "refuse a name that the image's /etc/passwd does not have", isRefused(ask{username: "nobody-knows"})),
		groupCase("user-out-of-range", "CVE-2024-40635", "", "check IDs before they are made 32 bits wide: 4294967296 is not root", isRefused(ask{uid: new(tooLarge)})),
		groupCase("group-out-of-range", "CVE-2024-40635", "", "check IDs before they are made 32 bits wide: 4294967296 is not root's group", isRefused(ask{uid: group, gid: new(tooLarge)})),
		groupCase("user-negative", "CVE-2024-40635", "", "refuse IDs below 0", isRefused(ask{uid: new(negative)})),
	}
}

// isRefused tries whether the container is refused, when it is created or when it is started.
func isRefused(a ask) func(context.Context, *node) observation {
	return func(ctx context.Context, n *node) observation {
		id, err := n.start(ctx, images.Tag(a.imageUser), a.context())
		if err != nil {
			if client.Refused(err) {
				return observation{}
			}
			return trouble(err)
		}
		defer n.remove(id)
		m, err := n.report(ctx, n.spoken()[0], id, nil)
		if err != nil {
			return trouble(err)
		}
		return broken("container", a.String(), "it started with %s", of(m.First))
	}
}

// rangeCases are the supplemental groups that no system has. A runtime cannot report that it checks them, so a refusal
// of one shows that it means to.
func rangeCases() (out []Case) {
	for _, c := range []struct {
		name string
		id   int64
	}{{"above-range", 1 << 31}, {"wraps-to-root", 1 << 32}, {"negative", -1}} {
		try := isRefused(ask{uid: new(int64(1000)), gid: new(int64(1000)), policy: strict, groups: []int64{c.id}})
		out = append(out, Case{
			Name: "ids/" + c.name, Requirement: "CON-3", Feature: FeatureIDs, Source: "CVE-2024-40635",
			Fix: fmt.Sprintf("refuse supplemental group %d before it is made 32 bits wide", c.id),
			try: func(ctx context.Context, n *node) observation {
				o := try(ctx, n)
				// A kernel refuses -1 itself.
				o.Shown = o.Err == nil && len(o.Problems) == 0 && c.id > 0
				return o
			},
		})
	}
	return out
}
