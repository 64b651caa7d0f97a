package explain

import (
	"fmt"
	"path"
	"strings"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// whyNot says in one line why a pattern does not match a normalised repository, which is a pattern itself.
func whyNot(p credprovider.Pattern, image string) string {
	at, err := credprovider.Compile(image)
	if err != nil {
		return err.Error()
	}
	labels, have := strings.Split(p.Host(), "."), strings.Split(at.Host(), ".")
	switch {
	case p.Port() != at.Port():
		return fmt.Sprintf("its port is %q, the image's %q", p.Port(), at.Port())
	case len(labels) != len(have):
		return fmt.Sprintf("its host has %d labels, %q has %d, and a wildcard stays in its label", len(labels), at.Host(), len(have))
	}
	for i := range labels {
		if ok, _ := path.Match(labels[i], have[i]); !ok {
			return fmt.Sprintf("its label %q does not match %q", labels[i], have[i])
		}
	}
	if strings.Contains(p.Path(), "*") {
		return fmt.Sprintf("its path %q is taken as text, and %q does not begin with it: remove the path", p.Path(), at.Path())
	}
	return fmt.Sprintf("%q does not begin with its path %q", at.Path(), p.Path())
}
