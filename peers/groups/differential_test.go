package groups_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/moby/sys/user"
	"github.com/opencontainers/runtime-spec/specs-go"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

// answer is what a contender makes of an image and its user.
type answer struct {
	uid, gid uint32
	groups   []uint32 // ascending, each once, with gid
	err      error
}

func (a answer) String() string {
	if a.err != nil {
		return "an error"
	}
	return fmt.Sprintf("%d:%d %v", a.uid, a.gid, a.groups)
}

func set(gids ...uint32) []uint32 {
	slices.Sort(gids)
	return slices.Compact(gids)
}

func ours(imageUser, passwd, group string) answer {
	id, err := supgroups.Resolve(supgroups.Request{ImageUser: imageUser}, strings.NewReader(passwd), strings.NewReader(group))
	return answer{id.UID, id.GID, id.GIDs(), err}
}

// mobys is what a runtime gets that uses moby/sys/user alone, as CRI-O does.
func mobys(imageUser, passwd, group string) answer {
	u, err := user.GetExecUser(imageUser, nil, strings.NewReader(passwd), strings.NewReader(group))
	if err != nil {
		return answer{err: err}
	}
	gids := []uint32{uint32(u.Gid)}
	for _, g := range u.Sgids {
		gids = append(gids, uint32(g))
	}
	return answer{uint32(u.Uid), uint32(u.Gid), set(gids...), nil}
}

// containerds is what containerd's CRI plugin does with an image's user: WithUser, then WithAdditionalGIDs of the part
// before the colon, and the primary group always.
func containerds(t testing.TB, imageUser, passwd, group string) answer {
	spec := &specs.Spec{Root: &specs.Root{Path: unpack(t, []byte(passwd), []byte(group))}, Linux: &specs.Linux{}, Process: &specs.Process{}}
	defer os.RemoveAll(spec.Root.Path)
	name, _, _ := strings.Cut(imageUser, ":")
	for _, opt := range []oci.SpecOpts{oci.WithUser(imageUser), oci.WithAdditionalGIDs(name)} {
		if err := opt(context.Background(), nil, &containers.Container{}, spec); err != nil {
			return answer{err: err}
		}
	}
	u := spec.Process.User
	return answer{u.UID, u.GID, set(append(slices.Clone(u.AdditionalGids), u.GID)...), nil}
}

func equal(a, b answer) bool {
	if a.err != nil || b.err != nil {
		return (a.err != nil) == (b.err != nil)
	}
	return a.uid == b.uid && a.gid == b.gid && slices.Equal(a.groups, b.groups)
}

// TestAgreement draws files that no reasonable reader can misread: there all three agree.
func TestAgreement(t *testing.T) {
	t.Run("GRP-1 GRP-3 GRP-4 GRP-5 all three agree on well-formed files", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			passwd, group := drawFiles(r)
			who := rapid.SampledFrom([]string{"root", "alice", "bob", "carol", "0", "1000", "1001", "4242", "nobody"}).Draw(r, "user")
			a, m, c := ours(who, passwd, group), mobys(who, passwd, group), containerds(t, who, passwd, group)
			if !equal(a, m) || !equal(a, c) {
				r.Fatalf("USER %q: ours %v, moby %v, containerd %v\npasswd %q\ngroup %q", who, a, m, c, passwd, group)
			}
		})
	})
	t.Run("GRP-4 both agree on a numeric or named group, but for memberships", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			passwd, group := drawFiles(r)
			who := rapid.SampledFrom([]string{"root:staff", "alice:7", "1000:staff", "4242:7", "bob:nogroup", "nobody:staff"}).Draw(r, "user")
			a, m, c := ours(who, passwd, group), mobys(who, passwd, group), containerds(t, who, passwd, group)
			if (a.err == nil) != (m.err == nil) || a.err == nil && (a.uid != m.uid || a.gid != m.gid) || !equal(a, c) {
				r.Fatalf("USER %q: ours %v, moby %v, containerd %v\npasswd %q\ngroup %q", who, a, m, c, passwd, group)
			}
		})
	})
}

func drawFiles(r *rapid.T) (passwd, group string) {
	var p, g bytes.Buffer
	for i, name := range rapid.Permutation([]string{"root", "alice", "bob", "carol"}).Draw(r, "users") {
		uid := rapid.SampledFrom([]int{1000 + i, 1000, 0}).Draw(r, "uid")
		fmt.Fprintf(&p, "%s:x:%d:%d:gecos:/:/bin/sh%s", name, uid, rapid.IntRange(0, 2000).Draw(r, "gid"), lineEnd(r))
	}
	for _, name := range rapid.Permutation([]string{"staff", "wheel", "disk", "games", "empty"}).Draw(r, "groups") {
		members := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"root", "alice", "bob", "carol", "dave", "alic", "alicex"}), rapid.ID[string]).Draw(r, "members")
		list := ""
		for i, m := range members {
			if i > 0 {
				list += ","
			}
			list += m
		}
		fmt.Fprintf(&g, "%s:x:%d:%s%s", name, rapid.IntRange(0, 70000).Draw(r, "gid"), list, lineEnd(r))
	}
	return p.String(), g.String()
}

func lineEnd(r *rapid.T) string {
	return rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", " \n"}).Draw(r, "line end")
}

// TestDifferences names every difference, with its reason.
func TestDifferences(t *testing.T) {
	const alice = "alice:x:1000:1000::/:\n"
	cases := []struct {
		name                string
		user, passwd, group string
		ours, moby, theirs  string
		reason              string
	}{
		{
			"GRP-1 a group in the image's user", "alice:users", alice, "users:x:100:\ng:x:5:alice\n",
			"1000:100 [5 100]", "1000:100 [100]", "1000:100 [5 100]", "KEP-3619: Merge always adds the primary user's groups",
		},
		{
			"GRP-4 an empty group part", "alice:", alice, "g:x:5:alice\n",
			"1000:1000 [5 1000]", "1000:1000 [5 1000]", "1000:0 [0 5]", "OCI: without a group the user's default group applies; 0 is the worst guess",
		},
		{
			"GRP-1 a group named like the user", "alice", alice, "alice:x:5:alice\n",
			"1000:1000 [5 1000]", "1000:1000 [5 1000]", "1000:1000 [1000]", "KEP-3619: a membership in the image's group file is one, whatever the group's name",
		},
		{"GRP-4 two colons", "a:b:c", alice, "", "an error", "an error", "an error", "agreed; CRI-O's older moby/sys/user ignored the third part"},
		{"GRP-3 only a group", ":5", "root:x:0:3::/:\n", "", "an error", "0:5 [5]", "0:5 [5]", "GRP-3: a group without a user is an error"},
		{"GRP-7 too few fields", "alice", "alice:x:1000\n", "", "an error", "1000:0 [0]", "1000:0 [0]", "a missing group is not group 0"},
		{"GRP-7 a uid that is no number", "alice", "alice:x:abc:7::/:\n", "", "an error", "0:7 [7]", "0:7 [7]", "never read as 0"},
		{"GRP-7 a gid that is no number", "alice", alice, "g:x:abc:alice\n", "1000:1000 [1000]", "1000:1000 [0 1000]", "1000:1000 [0 1000]", "never read as 0"},
		{"GRP-7 a comment above root", "0", "#x:x:0:9::/:\nroot:x:0:3::/:\n", "g:x:5:root\n", "0:3 [3 5]", "0:9 [9]", "0:9 [9]", "a comment is no user"},
		{"GRP-7 a NIS directive above root", "0", "+::::::\nroot:x:0:3::/:\n", "g:x:5:root\n", "0:3 [3 5]", "0:0 [0]", "0:0 [0]", "a directive is no user"},
		{"GRP-7 a row without a name", "5", ":x:5:6::/:\n", "", "5:0 [0]", "5:6 [6]", "5:6 [6]", "a row that names nobody says nothing"},
		{"GRP-8 a uid that wraps round", "alice", "alice:x:4294967296:7::/:\n", "", "an error", "0:7 [7]", "0:7 [7]", "CVE-2024-40635: out of range is refused"},
		{"GRP-8 a group that wraps round", "alice", alice, "g:x:4294967296:alice\n", "1000:1000 [1000]", "1000:1000 [0 1000]", "1000:1000 [0 1000]", "out of range is skipped"},
		{"GRP-8 a negative group", "alice", alice, "g:x:-5:alice\n", "1000:1000 [1000]", "1000:1000 [1000 4294967291]", "1000:1000 [1000 4294967291]", "out of range is skipped"},
		{"GRP-8 a sign in a row", "alice", "alice:x:+7:8::/:\n", "", "an error", "7:8 [8]", "7:8 [8]", "IDs of rows are digits; no tool writes a sign"},
		{"GRP-7 a long passwd row", "alice", "alice:x:7:8:" + long + ":/:\n", "", "7:8 [8]", "an error", "an error", "one long row must not stop the container"},
		{"GRP-7 a group row of 2 MiB", "alice", alice, "g:x:5:" + veryLong + ",alice\n", "1000:1000 [5 1000]", "an error", "an error", "members have no limit"},
		{"GRP-7 a group file of 11 MiB", "alice", alice, comments + "g:x:5:alice\n", "1000:1000 [5 1000]", "1000:1000 [5 1000]", "an error", "memory is constant, so size needs no such limit"},
		{"GRP-7 a group's name of 300 bytes", "alice", alice, long[:300] + ":x:5:alice\n", "1000:1000 [1000]", "1000:1000 [5 1000]", "1000:1000 [5 1000]", "names have the system's limit, so that results are bounded"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for who, got := range map[string]answer{
				c.ours + "|ours": ours(c.user, c.passwd, c.group), c.moby + "|moby": mobys(c.user, c.passwd, c.group),
				c.theirs + "|containerd": containerds(t, c.user, c.passwd, c.group),
			} {
				if want, name, _ := strings.Cut(who, "|"); got.String() != want {
					t.Errorf("%s: USER %q gives %v (%v), want %s (%s)", name, c.user, got, got.err, want, c.reason)
				}
			}
		})
	}
}

var (
	long     = strings.Repeat("g", 100<<10)
	veryLong = strings.Repeat("bob,", 512<<10) + "bob"
	comments = strings.Repeat("# nothing to see\n", 700<<10)
)

// TestUsername compares the functions that take a name alone.
func TestUsername(t *testing.T) {
	root := unpack(t, []byte("alice:x:1000:1001::/:\n1000:x:5:5::/:\n"), nil)
	t.Run("GRP-3 GRP-4 a name gives the same user; a numeric one is an ID with us", func(t *testing.T) {
		for name, want := range map[string]string{"alice": "1000:1001", "nobody": "an error", "1000": "5:5"} {
			spec := &specs.Spec{Root: &specs.Root{Path: root}, Linux: &specs.Linux{}, Process: &specs.Process{}}
			err := oci.WithUsername(name)(context.Background(), nil, &containers.Container{}, spec)
			got := fmt.Sprintf("%d:%d", spec.Process.User.UID, spec.Process.User.GID)
			if err != nil {
				got = "an error"
			}
			if got != want {
				t.Errorf("containerd's WithUsername(%q) = %s, want %s", name, got, want)
			}
			files, err := rootfs.Open(root)
			if err != nil {
				t.Fatal(err)
			}
			id, err := files.Resolve(supgroups.Request{RunAsUsername: name})
			files.Close()
			if mine := fmt.Sprintf("%d:%d", id.UID, id.GID); name == "1000" && mine != "1000:1001" || name != "1000" && err == nil && mine != want || name == "nobody" && err == nil {
				t.Errorf("ours(%q) = %s, %v, want %s", name, mine, err, want)
			}
		}
	})
}

// TestLinks compares what is read through links.
func TestLinks(t *testing.T) {
	layouts := map[string]map[string]string{
		"GRP-7 absolute link":          {"etc/passwd": "/usr/etc/passwd"},
		"GRP-7 link that climbs":       {"etc/passwd": "../../../../usr/etc/passwd"},
		"GRP-7 linked directory":       {"etc": "/usr/etc"},
		"GRP-7 relative link":          {"etc/passwd": "../usr/etc/passwd"},
		"GRP-7 link to a missing file": {"etc/passwd": "/nowhere"},
		"GRP-7 loop":                   {"etc/passwd": "passwd"},
	}
	for name, links := range layouts {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			fatal := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			fatal(os.MkdirAll(filepath.Join(root, "usr", "etc"), 0o755))
			fatal(os.WriteFile(filepath.Join(root, "usr", "etc", "passwd"), []byte("alice:x:1000:1001::/:\n"), 0o644))
			for from, to := range links {
				if from != "etc" {
					fatal(os.MkdirAll(filepath.Join(root, "etc"), 0o755))
				}
				fatal(os.Symlink(to, filepath.Join(root, from)))
			}
			spec := &specs.Spec{Root: &specs.Root{Path: root}, Linux: &specs.Linux{}, Process: &specs.Process{}}
			theirErr := oci.WithUser("alice")(context.Background(), nil, &containers.Container{}, spec)
			files, err := rootfs.Open(root)
			fatal(err)
			defer files.Close()
			id, err := files.Resolve(supgroups.Request{ImageUser: "alice"})
			if (err == nil) != (theirErr == nil) || err == nil && (id.UID != spec.Process.User.UID || id.GID != spec.Process.User.GID) {
				t.Errorf("ours %d:%d, %v; containerd %v, %v", id.UID, id.GID, err, spec.Process.User, theirErr)
			}
		})
	}
}
