package rootfs_test

import (
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

func ExampleRoot_Resolve() {
	// An image whose /etc is elsewhere, as in NixOS.
	image := fstest.MapFS{
		"etc":              {Mode: 0o777 | fs.ModeSymlink, Data: []byte("/nix/etc")},
		"nix/etc/passwd":   {Data: []byte("alice:x:1000:1000::/:/bin/sh\n")},
		"nix/etc/group":    {Data: []byte("docker:x:998:alice\n")},
		"nix/etc/hostname": {Data: []byte("unrelated")},
	}
	who, err := rootfs.New(image).Resolve(supgroups.Request{ImageUser: "alice"})
	fmt.Println(who.UID, who.GID, who.Groups, err)
	// Output:
	// 1000 1000 [998 (image group "docker") 1000 (primary group)] <nil>
}
