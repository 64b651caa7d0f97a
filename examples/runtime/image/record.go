package image

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Image is what the store knows of one image.
type Image struct {
	ID      string    `json:"id"`      // digest of its configuration, "sha256:…"
	Tags    []string  `json:"tags"`    // such as "localhost:5000/app:v1", ascending
	Digests []string  `json:"digests"` // such as "localhost:5000/app@sha256:…", ascending
	Size    uint64    `json:"size"`    // bytes of its compressed layers
	Layers  []string  `json:"layers"`  // diff IDs, the lowest first
	Config  v1.Config `json:"config"`  // what its processes start with
}

// normal returns the reference as it is stored: with registry and tag or digest, and Docker Hub by the name people use.
func normal(ref name.Reference) string {
	return strings.Replace(ref.Name(), "index.docker.io/", "docker.io/", 1)
}

// matches says whether ref, in any form a CRI client sends it, means this image.
func (i *Image) matches(ref string) bool {
	if ref == i.ID || "sha256:"+ref == i.ID {
		return true
	}
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return false
	}
	full := normal(parsed)
	for _, known := range append(append([]string(nil), i.Tags...), i.Digests...) {
		if known == full {
			return true
		}
	}
	return false
}
