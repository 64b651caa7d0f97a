package containerd

import (
	"fmt"
	"strings"
)

// The lines of a document between which the table stands.
const (
	begins = "<!-- generated: containerd -->\n"
	ends   = "<!-- /generated -->\n"
)

// Renew returns the document with the table between its two markers, `<!-- generated: containerd -->` and
// `<!-- /generated -->`, each a line of its own. It is an error if the first is not there once or the second does not
// follow.
func Renew(document, table string) (string, error) {
	if n := strings.Count(document, begins); n != 1 {
		return "", fmt.Errorf("%d lines %q, want 1", n, strings.TrimSpace(begins))
	}
	before, rest, _ := strings.Cut(document, begins)
	_, after, found := strings.Cut(rest, ends)
	if !found {
		return "", fmt.Errorf("no line %q after %q", strings.TrimSpace(ends), strings.TrimSpace(begins))
	}
	return before + begins + table + ends + after, nil
}
