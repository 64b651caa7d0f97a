package stack

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

// Image pushes an image made of the reporter and the spec's files to the stack's
// registry, under repository:tag, and returns its reference.
func (s *Stack) Image(repositoryTag string, spec testimage.Spec) (string, error) {
	if spec.Reporter == "" {
		reporter, err := parts.Find("lanyard-reporter")
		if err != nil {
			return "", err
		}
		spec.Reporter = reporter
	}
	image, err := testimage.Build(spec)
	if err != nil {
		return "", err
	}
	return s.registry.Push(repositoryTag, image)
}

// pause is the sandbox image that containerd wants.
func (s *Stack) pause() (v1.Image, error) {
	reporter, err := parts.Find("lanyard-reporter")
	if err != nil {
		return nil, err
	}
	return testimage.Build(testimage.Spec{Reporter: reporter, Config: v1.Config{Entrypoint: []string{testimage.Program, "pause"}}})
}
