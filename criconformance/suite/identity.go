package suite

import (
	"context"
	"fmt"
	"slices"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
)

// Where the promises about groups are made, and in which words.
const (
	groupsPolicy = "KEP-3619, SupplementalGroupsPolicy in PodSecurityContext"

	mergeSays   = "This policy always merges the provided SupplementalGroups(including FsGroup) with groups of the primary user from the image(/etc/group in the image)."
	strictSays  = "This policy uses only the provided SupplementalGroups(including FsGroup) as supplemental groups for the first container process. No groups from the image are extracted."
	primarySays = "The primary user is specified with RunAsUser. If not specified, the user from the image config is used. Otherwise, the runtime default is used."
)

const (
	merge  = runtimeapi.SupplementalGroupsPolicy_Merge
	strict = runtimeapi.SupplementalGroupsPolicy_Strict
)

// ask is what a container asks for. Every container asks for supplemental group 60000 besides.
type ask struct {
	imageUser string
	username  string
	uid, gid  *int64
	policy    runtimeapi.SupplementalGroupsPolicy
	groups    []int64 // besides 60000
}

func (a ask) context() *runtimeapi.LinuxContainerSecurityContext {
	return &runtimeapi.LinuxContainerSecurityContext{
		RunAsUser: value(a.uid), RunAsGroup: value(a.gid), RunAsUsername: a.username,
		SupplementalGroups: append([]int64{60000}, a.groups...), SupplementalGroupsPolicy: a.policy,
	}
}

func value(n *int64) *runtimeapi.Int64Value {
	if n == nil {
		return nil
	}
	return &runtimeapi.Int64Value{Value: *n}
}

// String is how a report shows it.
func (a ask) String() string {
	s := fmt.Sprintf("supplementalGroups %v, policy %v", a.context().GetSupplementalGroups(), a.policy)
	if a.gid != nil {
		s = fmt.Sprintf("runAsGroup %d, %s", *a.gid, s)
	}
	if a.uid != nil {
		s = fmt.Sprintf("runAsUser %d, %s", *a.uid, s)
	}
	if a.username != "" {
		s = fmt.Sprintf("runAsUsername %q, %s", a.username, s)
	}
	if a.imageUser != "" {
		s = fmt.Sprintf("image user %q, %s", a.imageUser, s)
	}
	return s
}

// identity is as whom a process runs.
type identity struct {
	uid, gid int64
	groups   []int64
}

func (i identity) String() string {
	return fmt.Sprintf("uid %d, gid %d, groups %v", i.uid, i.gid, i.groups)
}

func of(p message.Process) identity { return identity{p.UID, p.GID, p.Groups} }

// plain is the identity with the primary group among the groups and each group once, so that a runtime that forgets
// that fails the cases that are about it and no other.
func (i identity) plain() identity {
	i.groups = append([]int64{i.gid}, i.groups...)
	slices.Sort(i.groups)
	i.groups = slices.Compact(i.groups)
	return i
}

func (i identity) equal(other identity) bool {
	return i.uid == other.uid && i.gid == other.gid && slices.Equal(i.groups, other.groups)
}

// runAs starts a container and returns its ID, what its first process and an exec'd one say, and what is wrong already.
func (n *node) runAs(ctx context.Context, a ask) (id string, m message.Message, o observation) {
	id, err := n.start(ctx, images.Tag(a.imageUser), a.context())
	if err != nil {
		return "", m, refusedOr(err, a.String())
	}
	m, err = n.report(ctx, n.spoken()[0], id, nil)
	if err != nil {
		n.remove(id)
		return "", m, trouble(err)
	}
	return id, m, observation{}
}

// startsAs tries whether the first process is who it should be.
func startsAs(a ask, want identity) func(context.Context, *node) observation {
	return func(ctx context.Context, n *node) observation {
		id, m, o := n.runAs(ctx, a)
		if id == "" {
			return o
		}
		defer n.remove(id)
		if got := of(m.First); !got.plain().equal(want.plain()) {
			return broken("first process", a.String(), "%s, want %s", got, want)
		}
		return observation{}
	}
}

func groupCase(name, source, sentence, fix string, try func(context.Context, *node) observation) Case {
	return Case{Name: "groups/" + name, Requirement: "CON-3", Feature: FeatureGroups, Source: source, Sentence: sentence, Fix: fix, try: try}
}

func identityCases() []Case {
	alice, own, other, nobody := new(int64(1000)), new(int64(1000)), new(int64(1001)), new(int64(4242))
	const mergeFix = "add the groups that the image's /etc/group lists the user in"
	const strictFix = "under Strict leave the image's /etc/group alone"
	return []Case{
		groupCase("merge", groupsPolicy, mergeSays, mergeFix, startsAs(ask{uid: alice, gid: own}, identity{1000, 1000, []int64{50000, 60000}})),
		groupCase("strict", groupsPolicy, strictSays, strictFix, strictDiffers),
		groupCase("merge-without-group", groupsPolicy, mergeSays, mergeFix, startsAs(ask{uid: alice}, identity{1000, 1000, []int64{50000, 60000}})),
		groupCase("strict-without-group", groupsPolicy, strictSays, strictFix, startsAs(ask{uid: alice, policy: strict}, identity{1000, 1000, []int64{60000}})),
		groupCase("merge-username", groupsPolicy, primarySays, "look runAsUsername up in the image's /etc/passwd",
			startsAs(ask{username: "alice"}, identity{1000, 1000, []int64{50000, 60000}})),
		groupCase("strict-username", groupsPolicy, strictSays, strictFix, startsAs(ask{username: "alice", policy: strict}, identity{1000, 1000, []int64{60000}})),
		groupCase("username-wins", groupsPolicy, primarySays, "let runAsUsername win over runAsUser",
			startsAs(ask{username: "alice", uid: other, policy: strict}, identity{1000, 1000, []int64{60000}})),
		groupCase("unlisted-user", groupsPolicy, primarySays, "give a user without a row in /etc/passwd group 0",
			startsAs(ask{uid: nobody}, identity{4242, 0, []int64{60000}})),
		groupCase("default-user", groupsPolicy, primarySays, "start a container without any user as root",
			startsAs(ask{}, identity{0, 0, []int64{60000}})),
		groupCase("primary-group-kept", "CVE-2022-2989 and its kin", "", "put the primary group among the supplementary ones, or a process can drop it and pass a permission that denies it",
			primaryGroupKept),
		groupCase("each-once", groupsPolicy, "", "keep each group once", eachGroupOnce),
		groupCase("exec-process", groupsPolicy, "", "start exec'd processes with the container's user, groups and capabilities", execProcess),
	}
}

// strictDiffers is Strict beside Merge: when they differ, the runtime shows that it knows the policy.
func strictDiffers(ctx context.Context, n *node) observation {
	a := ask{uid: new(int64(1000)), gid: new(int64(1000)), policy: strict}
	o := startsAs(a, identity{1000, 1000, []int64{60000}})(ctx, n)
	if o.Err != nil || len(o.Problems) > 0 {
		return o
	}
	a.policy = merge
	id, m, beside := n.runAs(ctx, a)
	if id == "" {
		return beside
	}
	defer n.remove(id)
	o.Shown = slices.Contains(m.First.Groups, 50000)
	return o
}

func primaryGroupKept(ctx context.Context, n *node) (o observation) {
	for _, policy := range []runtimeapi.SupplementalGroupsPolicy{merge, strict} {
		a := ask{uid: new(int64(1000)), gid: new(int64(1001)), policy: policy}
		id, m, failed := n.runAs(ctx, a)
		if id == "" {
			return failed
		}
		n.remove(id)
		if !slices.Contains(m.First.Groups, 1001) {
			o = o.and(broken("first process", a.String(), "%s, want 1001 among the groups", of(m.First)))
		}
	}
	return o
}

func eachGroupOnce(ctx context.Context, n *node) observation {
	a := ask{uid: new(int64(1000)), gid: new(int64(1000)), groups: []int64{50000, 60000, 1000}}
	id, m, o := n.runAs(ctx, a)
	if id == "" {
		return o
	}
	defer n.remove(id)
	for i, g := range m.First.Groups {
		if i > 0 && m.First.Groups[i-1] == g {
			o = o.and(broken("first process", a.String(), "groups %v: duplicate %d", m.First.Groups, g))
		}
	}
	return o
}

// execProcess is every way to open a session: the process has to be who the container is.
func execProcess(ctx context.Context, n *node) observation {
	a := ask{uid: new(int64(1000)), gid: new(int64(1000))}
	id, _, o := n.runAs(ctx, a)
	if id == "" {
		return o
	}
	defer n.remove(id)
	for _, w := range n.spoken() {
		m, err := n.report(ctx, w, id, nil)
		if err != nil {
			return trouble(fmt.Errorf("exec over %s: %w", w, err))
		}
		if !of(m.Self).equal(of(m.First)) || m.Self.CapEff != m.First.CapEff {
			o = o.and(broken(w.String(), a.String(), "exec'd process has %s, capabilities %s; the container's first has %s, capabilities %s",
				of(m.Self), m.Self.CapEff, of(m.First), m.First.CapEff))
		}
	}
	return o
}
