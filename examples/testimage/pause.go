package testimage

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// Pause makes the image of a program that does nothing for ever, as the sandbox of runtimes that want one.
func Pause() (v1.Image, error) {
	reporter, err := parts.Find("lanyard-reporter")
	if err != nil {
		return nil, err
	}
	return Build(Spec{Reporter: reporter, Config: v1.Config{Entrypoint: []string{Program, "pause"}}})
}
