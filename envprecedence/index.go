package envprecedence

import (
	"hash/maphash"
	"strings"
)

// names compares the names of variables. Its seed is fresh for each merge or baseline, so that no image can prepare names
// that collide.
type names struct {
	seed   maphash.Seed
	folded bool
}

func newNames(p Platform) names { return names{maphash.MakeSeed(), p == Windows} }

func (n names) hash(name string) uint64 {
	if n.folded {
		name = upperName(name)
	}
	return maphash.String(n.seed, name)
}

// same says whether an environ string has this name.
func (n names) same(entry, name string) bool {
	if n.folded {
		entryName, _, _ := strings.Cut(entry, "=")
		return upperName(entryName) == upperName(name)
	}
	return len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name
}

// index finds an entry's position in a list of environ strings by its name. It is an open-addressing table whose length is
// a power of two, at most half full. A slot is 0 if free; else its low bits, those of the mask, are the position plus one and its
// high bits are bits of the hash, which spare most comparisons.
type index struct {
	names
	slots []uint32
}

// slotsFor returns the number of slots for n entries.
func slotsFor(n int) int {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return size
}

// probe returns the position of name in list, or -1 and the slot in which it belongs.
func (x *index) probe(hash uint64, name string, list []string) (position int, slot uint32) {
	mask := uint32(len(x.slots) - 1)
	tag := uint32(hash>>32) &^ mask
	for slot = uint32(hash) & mask; ; slot = (slot + 1) & mask {
		found := x.slots[slot]
		if found == 0 {
			return -1, slot
		}
		if found&^mask == tag && x.same(list[found&mask-1], name) {
			return int(found&mask) - 1, slot
		}
	}
}

// add claims the next position of list for name, unless list has an entry of that name.
func (x *index) add(name string, list []string) bool {
	hash := x.hash(name)
	position, slot := x.probe(hash, name, list)
	if position >= 0 {
		return false
	}
	mask := uint32(len(x.slots) - 1)
	x.slots[slot] = uint32(hash>>32)&^mask | uint32(len(list)+1)
	return true
}
