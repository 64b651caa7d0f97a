//go:build !linux

package source

import (
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

func (o Options) walk() ([]agent.Observation, error) { return nil, nil }

func sinceBoot() time.Duration { return 0 }

func hostMountNS(string) uint32 { return 0 }

type fate int

const (
	fateAlive fate = iota
	fateGone
	fateLeft
)

func (o Options) fates(all []agent.Live) []fate { return make([]fate, len(all)) }
