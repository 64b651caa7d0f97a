// Package image is the runtime's image store: it pulls images from registries, unpacks each layer once, whoever shares
// it, and hands out the directories that make up a root file system.
//
// A layer comes from a stranger. It is unpacked inside an os.Root, so that no name, link or parent in it reaches
// outside; device nodes, too many entries and too many bytes end the pull with an error, see [LayerError]. A layer
// becomes visible by one rename after its digest was checked, and an image by one rename after all its layers are
// there: a pull that dies at any moment leaves nothing half-done that could be used.
package image
