// Package rootfs reads /etc/passwd and /etc/group of an unpacked image, and never a byte from outside it.
//
// The files are the image's, so they are hostile until proved otherwise: symbolic links are followed as the container would
// follow them, with an absolute link starting again at the image's root and ".." stopping there; only regular files are
// opened; links, file size and waiting have limits.
//
//	root, err := rootfs.Open("/run/containers/c1/rootfs")
//	…
//	defer root.Close()
//	who, err := root.Resolve(request)
//
// [New] does the same over any fs.ReadLinkFS, such as the merged layers of an image that is not unpacked.
package rootfs
