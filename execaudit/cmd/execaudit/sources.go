package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/auditlog"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/journal"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/lines"
)

// sources are the lists of files that were given, each with the format that its flag says.
func (a *attribute) sources(ctx context.Context, p *progress) []*lines.Source {
	var sources []*lines.Source
	add := func(paths []string, decode attribution.Decoder) {
		for _, list := range paths {
			s := &lines.Source{Decode: decode, Node: a.node, Progress: p.add, Live: a.follow}
			s.Files = a.open(ctx, strings.Split(list, ","), s)
			sources = append(sources, s)
		}
	}
	add(a.audit, auditlog.Decode)
	add(a.journals, journal.Decode)
	add(a.events, nil)
	return sources
}

// paths returns the files in the order in which they were given.
func (a *attribute) paths() []string {
	var paths []string
	for _, list := range slices.Concat(a.audit, a.journals, a.events) {
		paths = append(paths, strings.Split(list, ",")...)
	}
	return paths
}

// open returns the files of one list. Of files that are followed only the last grows; what is before it is read once, in
// the order of its time.
func (a *attribute) open(ctx context.Context, paths []string, s *lines.Source) (files []lines.Opener) {
	for _, path := range paths {
		files = append(files, lines.File(path, a.in))
	}
	if !a.follow {
		return files // join.Files has an order of its own
	}
	last := len(paths) - 1
	begin := map[string]time.Time{}
	for _, f := range files[:last] {
		begin[f.Name] = (&lines.Source{Files: []lines.Opener{f}, Decode: s.Decode, Node: s.Node}).Begin()
	}
	slices.SortStableFunc(files[:last], func(x, y lines.Opener) int { return begin[x.Name].Compare(begin[y.Name]) })
	files[last] = opened(lines.Follow(ctx, paths[last]))
	return files
}

// opened opens a file now, to be read later: it may be rotated until then.
func opened(o lines.Opener) lines.Opener {
	file, err := o.Open()
	return lines.Opener{Name: o.Name, Open: func() (io.ReadCloser, error) { return file, err }}
}
