package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// drawCases makes images and requests for their containers; a generator in the same
// state makes the same ones.
func drawCases(r *rand.Rand) (images []*groupsFiles, cases []groupsCase) {
	for range groupsImages {
		image := &groupsFiles{
			passwd: drawPasswd(r), group: drawGroup(r),
			user: oneOf(r, "", "root", "alice", "bob", "1000", "4242", "alice:staff", "1000:7", "bob:1001", "1000:wheel", "4242:staff", "alice:"),
		}
		images = append(images, image)
		for range casesPerImage {
			cases = append(cases, groupsCase{image, drawSecurity(r)})
		}
	}
	return images, cases
}

func oneOf[V any](r *rand.Rand, values ...V) V { return values[r.IntN(len(values))] }

func drawSecurity(r *rand.Rand) *runtimeapi.LinuxContainerSecurityContext {
	sc := &runtimeapi.LinuxContainerSecurityContext{
		SupplementalGroupsPolicy: oneOf(r, runtimeapi.SupplementalGroupsPolicy_Merge, runtimeapi.SupplementalGroupsPolicy_Strict),
		SupplementalGroups:       oneOf(r, nil, []int64{60000}, []int64{60000, 7, 60000}, []int64{1000, 50000}),
	}
	switch r.IntN(4) {
	case 0:
		sc.RunAsUser = criID(oneOf[int64](r, 0, 1000, 1001, 4242, 2147483647))
	case 1:
		sc.RunAsUsername = oneOf(r, "root", "alice", "bob", "1000", "nobody-knows")
	case 2:
		sc.RunAsUser, sc.RunAsUsername = criID(1001), "alice"
	}
	if r.IntN(3) == 0 {
		sc.RunAsGroup = criID(oneOf[int64](r, 0, 1000, 1001, 4343))
	}
	return sc
}

func drawPasswd(r *rand.Rand) string {
	var b strings.Builder
	names := []string{"root", "alice", "bob", "carol"}
	r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	for i, name := range names {
		uid := map[string]int{"root": 0, "alice": 1000, "bob": 1001, "carol": oneOf(r, 1000, 1001, 1002+i)}[name]
		row := fmt.Sprintf("%s:x:%d:%d:gecos:/:/bin/sh", name, uid, oneOf(r, uid, 5, 1000, 2000))
		if r.IntN(12) == 0 {
			row = oneOf(r, "#"+row, "+::::::\n"+row, name+":x:abc:7::/:", name+":x:4294967296:7::/:", name+":x:1000", name+":x:+7:8::/:")
		}
		b.WriteString(row + lineEnd(r))
	}
	return b.String()
}

func drawGroup(r *rand.Rand) string {
	var b strings.Builder
	for _, name := range []string{"root", "staff", "wheel", "disk", "alice", "secret"} {
		var members []string
		for _, member := range []string{"root", "alice", "bob", "carol", "alic", " alice"} {
			if r.IntN(3) == 0 {
				members = append(members, member)
			}
		}
		row := fmt.Sprintf("%s:x:%d:%s", name, oneOf(r, 5, 7, 1000, 50000, r.IntN(70000)), strings.Join(members, ","))
		if r.IntN(12) == 0 {
			row = oneOf(r, "#"+row, "+:::", name+":x:abc:alice,bob", name+":x:4294967296:alice,bob", name+":x:-5:alice", name+":x", name+"::+9:bob")
		}
		b.WriteString(row + lineEnd(r))
	}
	return b.String()
}

func lineEnd(r *rand.Rand) string { return oneOf(r, "\n", "\n", "\r\n", "\n\n", " \n") }
