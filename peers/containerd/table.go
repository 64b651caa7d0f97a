package containerd

import (
	"fmt"
	"strings"
)

// Counts says how much is inserted, blank lines not counted.
type Counts struct{ Files, Places, Lines, Imports int }

// Count counts over all patches.
func Count(patches []Patch) (c Counts) {
	for _, p := range patches {
		c.Files++
		c.Imports += len(p.Imports)
		for _, place := range p.Places {
			c.Places++
			c.Lines += place.count()
		}
	}
	return c
}

func (p Place) count() int { return strings.Count(p.Lines, "\n") }

// Table returns, in Markdown, where how many lines are inserted, and the lines.
func Table(version string, patches []Patch) string {
	var b strings.Builder
	fmt.Fprintf(&b, "containerd %s, files below `internal/cri/server`:\n\n", strings.TrimPrefix(version, "v"))
	b.WriteString("| file | function or type | where | lines | what for |\n|---|---|---|---|---|\n")
	for _, p := range patches {
		for _, place := range p.Places {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %d | %s |\n", base(p.File), place.In, place.Where, place.count(), place.Why)
		}
	}
	c := Count(patches)
	fmt.Fprintf(&b, "| %d files | %d places | | %d, and %d imports | |\n\n```go\n", c.Files, c.Places, c.Lines, c.Imports)
	for i, p := range patches {
		for j, place := range p.Places {
			if i+j > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "// %s, %s: %s\n%s", base(p.File), place.In, strings.ReplaceAll(place.Where.String(), "`", ""), undent(place.Lines))
		}
	}
	b.WriteString("```\n")
	return b.String()
}

func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// undent takes the first line's indentation off every line.
func undent(lines string) string {
	indent := lines[:len(lines)-len(strings.TrimLeft(lines, "\t"))]
	return strings.TrimPrefix(strings.ReplaceAll("\n"+lines, "\n"+indent, "\n"), "\n")
}
