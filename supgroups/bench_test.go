package supgroups_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// BenchmarkResolve is the whole cost for a user in the middle of passwd, by name and by ID, from memory. The peers are
// in peers/groups.
func BenchmarkResolve(b *testing.B) {
	for _, rows := range []int{50, 1000, 100_000} {
		var passwd, group strings.Builder
		for i := range rows {
			fmt.Fprintf(&passwd, "user%d:x:%d:%d:User:/home:/bin/sh\n", i, 1000+i, 1000+i)
			fmt.Fprintf(&group, "group%d:x:%d:user%d,user%d,user%d\n", i, 1000+i, i, (i*7)%rows, (i*13)%rows)
		}
		uid := int64(1000 + rows/2)
		for name, req := range map[string]supgroups.Request{
			"name": {RunAsUsername: fmt.Sprint("user", rows/2)}, "id": {RunAsUser: &uid},
		} {
			b.Run(fmt.Sprintf("rows=%d/%s", rows, name), func(b *testing.B) {
				b.ReportAllocs()
				p, g := strings.NewReader(""), strings.NewReader("")
				for b.Loop() {
					p.Reset(passwd.String())
					g.Reset(group.String())
					if _, err := supgroups.Resolve(req, p, g); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCheckGroup is the cost of looking at every row.
func BenchmarkCheckGroup(b *testing.B) {
	text := strings.Repeat("group:x:1000:alice,bob,carol,dave\n", 100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := supgroups.CheckGroup(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
