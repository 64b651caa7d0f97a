package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/soak"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/cri"
)

// How many cases are made: each image's files with so many requests.
var (
	groupsImages  = soak.Size(10, 25)
	casesPerImage = soak.Size(6, 12)
)

// groupsFiles are the files and the user of an image.
type groupsFiles struct {
	passwd, group, user string
	ref                 string
}

// groupsCase is one request for a container of an image.
type groupsCase struct {
	*groupsFiles
	sc *runtimeapi.LinuxContainerSecurityContext
}

// TestGroupsCases runs generated containers on both runtimes: the process's own
// report, ContainerStatus.User and the prediction agree, except where a named
// difference of containerd explains it.
func TestGroupsCases(t *testing.T) {
	t.Parallel()
	c, pods := bothRuntimes(t)
	images, cases := drawCases(rand.New(rand.NewPCG(3619, 2022)))
	for i, image := range images {
		ref, err := c.Image(fmt.Sprintf("case%d:v1", i), testimage.Spec{
			Files:  map[string]string{"/etc/passwd": image.passwd, "/etc/group": image.group},
			Config: v1.Config{User: image.user},
		})
		if err != nil {
			t.Fatal(err)
		}
		image.ref = ref
		for _, p := range pods {
			p.Pull(t, ref)
		}
	}
	answers := map[string][]string{ours: make([]string, len(cases)), containerd: make([]string, len(cases))}
	started := time.Now()
	err := eachAtOnce(len(cases), func(i int) error {
		for name, p := range pods {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			own, status, err := runOnce(t, ctx, p, cases[i].ref, cases[i].sc)
			cancel()
			if err != nil {
				return fmt.Errorf("%s, %v: %w", name, cases[i], err)
			}
			answers[name][i] = own.String()
			if own != status {
				answers[name][i] = fmt.Sprintf("%v in the process, %v in the status", own, status)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases on two runtimes in %v", len(cases), time.Since(started).Round(time.Second))
	t.Run("GRP-1 GRP-2 GRP-3 GRP-4 GRP-5 GRP-6 GRP-8 GRP-11 ours is as predicted", func(t *testing.T) {
		for i, one := range cases {
			if want := one.predicted(t).String(); answers[ours][i] != want {
				t.Errorf("%v\ngives %s, want %s", one, answers[ours][i], want)
			}
		}
	})
	t.Run("GRP-1 GRP-2 GRP-3 GRP-4 GRP-5 GRP-6 GRP-11 containerd is as predicted, except the named differences", func(t *testing.T) {
		seen := map[string]int{}
		for i, one := range cases {
			want := one.predicted(t).String()
			if answers[containerd][i] == want {
				continue
			}
			why := one.difference(t)
			if why == "" {
				t.Errorf("%v\ngives %s, want %s", one, answers[containerd][i], want)
			}
			seen[why]++
		}
		for _, name := range []string{malformedRow, namedLikeUser, noUser, emptyGroup} {
			if seen[name] == 0 {
				t.Errorf("no case shows the difference %q: it excuses nothing", name)
			}
			t.Logf("%d of %d cases differ: %s", seen[name], len(cases), name)
		}
	})
}

// predicted is what supgroups says that the container runs as.
func (c groupsCase) predicted(t *testing.T) identity {
	t.Helper()
	who, err := c.resolve()
	if err != nil {
		return identity{}
	}
	return identityOf(int64(who.UID), int64(who.GID), who.GIDs())
}

func (c groupsCase) resolve() (supgroups.Identity, error) {
	request, err := cri.ContainerRequest(c.sc, c.user)
	if err != nil {
		return supgroups.Identity{}, err
	}
	return supgroups.Resolve(request, strings.NewReader(c.passwd), strings.NewReader(c.group))
}

func (c groupsCase) String() string {
	return fmt.Sprintf("image user %q, %v\npasswd %q\ngroup %q", c.user, c.sc, c.passwd, c.group)
}

// The differences that docs/supgroups.md names and these cases can show.
const (
	malformedRow  = "malformed rows and comments are read, with 0 for what is no number"
	namedLikeUser = "a group named like the user is left out"
	noUser        = "without any user nothing is looked up"
	emptyGroup    = "an empty group part is group 0"
)

// difference names why containerd may give another answer, "" where it must not.
func (c groupsCase) difference(t *testing.T) string {
	t.Helper()
	nobodyAsked := c.sc.GetRunAsUser() == nil && c.sc.GetRunAsUsername() == ""
	who, _ := c.resolve()
	switch {
	case nobodyAsked && c.user == "":
		return noUser
	case nobodyAsked && strings.HasSuffix(c.user, ":"):
		return emptyGroup
	case c.sc.GetSupplementalGroupsPolicy() == runtimeapi.SupplementalGroupsPolicy_Merge && memberOfOwnName(c.group, who.Username):
		return namedLikeUser
	case malformed(t, c.passwd, c.group):
		return malformedRow
	}
	return ""
}

func memberOfOwnName(group, user string) bool {
	for row := range strings.Lines(group) {
		fields := strings.Split(strings.TrimSpace(row), ":")
		if len(fields) > 3 && fields[0] == user && strings.Contains(","+fields[3]+",", ","+user+",") {
			return true
		}
	}
	return false
}

func malformed(t *testing.T, passwd, group string) bool {
	t.Helper()
	users, err := supgroups.CheckPasswd(strings.NewReader(passwd))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := supgroups.CheckGroup(strings.NewReader(group))
	if err != nil {
		t.Fatal(err)
	}
	return users.Rows+groups.Rows > 0 || strings.Contains(passwd, "#")
}

// eachAtOnce calls f for 0 to n-1, a few at a time, and returns every error.
func eachAtOnce(n int, f func(i int) error) error {
	const workers = 4
	next := make(chan int)
	errs := make([]error, n)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
}
