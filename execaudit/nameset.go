package execaudit

import (
	"hash/maphash"

	"github.com/lanyard-dev/lanyard/envprecedence"
)

// nameSlots is twice MaxEnvEntries and a power of two, so that probing stays short.
const nameSlots = 2 * MaxEnvEntries

// nameSet finds the names of a list that come twice. It lives on the stack, which
// a map of 256 names does not; its seed differs from call to call, so nobody
// can choose names that collide.
type nameSet struct {
	seed  maphash.Seed
	slots [nameSlots]uint16 // index into the list plus one; 0 is free
}

func newNameSet() nameSet {
	return nameSet{seed: maphash.MakeSeed()}
}

// add reports whether the name at i is new among those added. It wants each i
// below MaxEnvEntries and at most once.
func (s *nameSet) add(envs []envprecedence.Entry, i int) bool {
	slot := maphash.String(s.seed, envs[i].Name) % nameSlots
	for ; s.slots[slot] != 0; slot = (slot + 1) % nameSlots {
		if envs[s.slots[slot]-1].Name == envs[i].Name {
			return false
		}
	}
	s.slots[slot] = uint16(i + 1)
	return true
}
