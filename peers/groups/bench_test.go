package groups_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/moby/sys/user"
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

var sizes = []int{50, 1000, 100_000}

// newlines is the floor: it finds the rows of what has to be read, which is the group file and passwd up to the user.
func newlines(b []byte) (n int) {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return n
		}
		b = b[i+1:]
		n++
	}
}

// BenchmarkMemory resolves a user by name from files in memory.
func BenchmarkMemory(b *testing.B) {
	for _, rows := range sizes {
		c := makeCorpus(rows)
		grid := fmt.Sprintf("rows=%d", rows)
		b.Run(grid+"/floor", func(b *testing.B) {
			toUser := c.toUser()
			for b.Loop() {
				if newlines(c.group)+newlines(toUser) != rows+rows/2 {
					b.Fatal("wrong count")
				}
			}
		})
		b.Run(grid+"/lanyard", func(b *testing.B) {
			b.ReportAllocs()
			req := supgroups.Request{RunAsUsername: c.name}
			passwd, group := bytes.NewReader(nil), bytes.NewReader(nil)
			for b.Loop() {
				passwd.Reset(c.passwd)
				group.Reset(c.group)
				id, err := supgroups.Resolve(req, passwd, group)
				if err != nil || len(id.Groups) < targetGroups {
					b.Fatal(id, err)
				}
			}
		})
		b.Run(grid+"/moby", func(b *testing.B) {
			b.ReportAllocs()
			passwd, group := bytes.NewReader(nil), bytes.NewReader(nil)
			for b.Loop() {
				passwd.Reset(c.passwd)
				group.Reset(c.group)
				u, err := user.GetExecUser(c.name, nil, passwd, group)
				if err != nil || len(u.Sgids) < targetGroups {
					b.Fatal(u, err)
				}
			}
		})
	}
}

// BenchmarkDisk resolves a user by ID below a root directory, as a runtime does.
func BenchmarkDisk(b *testing.B) {
	for _, rows := range sizes {
		c := makeCorpus(rows)
		dir := unpack(b, c.passwd, c.group)
		grid := fmt.Sprintf("rows=%d", rows)
		b.Run(grid+"/lanyard", func(b *testing.B) {
			b.ReportAllocs()
			req := supgroups.Request{RunAsUser: &c.uid}
			for b.Loop() {
				root, err := rootfs.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				id, err := root.Resolve(req)
				if err != nil || len(id.Groups) < targetGroups {
					b.Fatal(id, err)
				}
				root.Close()
			}
		})
		b.Run(grid+"/containerd", func(b *testing.B) {
			b.ReportAllocs()
			opts := []oci.SpecOpts{oci.WithUserID(uint32(c.uid)), oci.WithAdditionalGIDs(fmt.Sprint(c.uid))}
			for b.Loop() {
				spec := &specs.Spec{Root: &specs.Root{Path: dir}, Linux: &specs.Linux{}, Process: &specs.Process{}}
				for _, opt := range opts {
					if err := opt(context.Background(), nil, &containers.Container{}, spec); err != nil {
						b.Fatal(err)
					}
				}
				if len(spec.Process.User.AdditionalGids) < targetGroups {
					b.Fatal(spec.Process.User)
				}
			}
		})
	}
}
