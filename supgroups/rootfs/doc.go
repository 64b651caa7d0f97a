// Package rootfs reads /etc/passwd and /etc/group of an unpacked image, and never a byte from outside the image.
//
// An image is untrusted: symbolic links are followed as the container would follow them, an absolute link from the
// image's root and ".." never above it; only regular files are opened; the number of links and the size of a file are
// limited, and opening never blocks.
//
//	root, err := rootfs.Open("/run/containers/c1/rootfs")
//	…
//	defer root.Close()
//	who, err := root.Resolve(request)
//
// [New] does the same over any fs.ReadLinkFS, such as the merged layers of an image that is not unpacked.
package rootfs
