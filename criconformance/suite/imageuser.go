package suite

import (
	"strings"

	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
)

// imageUserCases are the forms of an image's user, under Strict, where runtimes agree on the groups whatever the form.
func imageUserCases() (out []Case) {
	const fix = "read an image's user as the OCI image specification has it: user, uid, user:group, uid:gid, uid:group or user:gid"
	for _, user := range images.Users() {
		want := identity{1000, 1000, []int64{60000}}
		if strings.Contains(user, ":") {
			want.gid = 2000
		}
		out = append(out, groupCase("image-"+images.Tag(user), groupsPolicy, primarySays, fix,
			startsAs(ask{imageUser: user, policy: strict}, want)))
	}
	return append(out, groupCase("image-user-merge", groupsPolicy, mergeSays, "under Merge add the groups of the image's user, too",
		startsAs(ask{imageUser: "alice"}, identity{1000, 1000, []int64{50000, 60000}})))
}
