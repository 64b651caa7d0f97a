//go:build patched

package containerd

// What the patched containerd imports of ours, so that go.mod requires it.
import (
	_ "github.com/lanyard-dev/lanyard/envprecedence"
	_ "github.com/lanyard-dev/lanyard/execaudit/negotiate"
	_ "github.com/lanyard-dev/lanyard/execaudit/streaming"
)
