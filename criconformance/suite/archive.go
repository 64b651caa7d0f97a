package suite

import (
	"fmt"
	"io"

	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
)

// WriteArchive writes the suite's images as one OCI archive, named repository:base and so on, for runtimes that cannot
// pull from a registry in this process. Load it into the runtime and run with Options.Images set to the repository.
// reporter is as in Options. Its errors are [ErrOptions], for a reporter that cannot be used or no repository, and
// those of w.
func WriteArchive(w io.Writer, repository, reporter string) error {
	if repository == "" {
		return fmt.Errorf("%w: no repository", ErrOptions)
	}
	set, err := makeImages(reporter, "")
	if err != nil {
		return err
	}
	return images.Archive(w, repository, set)
}
