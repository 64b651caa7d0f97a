package supgroups_test

import (
	"fmt"
	"strings"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// The pod of KEP-3619's example, over an image whose /etc/group puts alice into a group of its own.
func ExampleResolve() {
	uid, gid := int64(1000), int64(1000)
	request := supgroups.Request{RunAsUser: &uid, RunAsGroup: &gid, SupplementalGroups: []int64{60000}}
	passwd := strings.NewReader("alice:x:1000:1000::/home/alice:/bin/sh\n")
	group := strings.NewReader("group-in-image:x:50000:alice\n")

	who, err := supgroups.Resolve(request, passwd, group)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range who.Groups {
		fmt.Println(g)
	}
	fmt.Println("Strict:", who.Under(supgroups.PolicyStrict).GIDs())
	fmt.Println("nobody asked for:", who.Unasked())
	// Output:
	// 1000 (primary group)
	// 50000 (image group "group-in-image")
	// 60000 (requested)
	// Strict: [1000 60000]
	// nobody asked for: [50000 (image group "group-in-image")]
}

func ExampleParseUserString() {
	u, err := supgroups.ParseUserString("alice:50000")
	fmt.Println(u.User, u.Group, u.Group.Numeric, err)
	_, err = supgroups.ParseUserString("4294967296")
	fmt.Println(err)
	// Output:
	// alice 50000 true <nil>
	// image user: id 4294967296 is outside 0 to 2147483647
}

func ExampleCheckGroup() {
	skipped, err := supgroups.CheckGroup(strings.NewReader("wheel:x:10:root\nevil:x:4294967296:root\n"))
	fmt.Println(skipped.Rows, skipped.First, err)
	// Output: 1 [{2 id out of range}] <nil>
}
