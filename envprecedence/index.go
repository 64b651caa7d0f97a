package envprecedence

// index finds an entry's position in a list of environ strings by its name. It is an open-addressing table; the number
// of its slots is a power of two and at least four times the number of entries, so that a search ends soon. A free slot
// is 0. In a used one the low bits, as many as number the slots, are the position plus one; the rest are bits of the
// hash, which spare most comparisons of names.
type index struct {
	names
	slots []uint32
}

// newIndex returns an empty index over the given slots, all of them free.
func newIndex(p Platform, slots []uint32) index {
	return index{newNames(p), slots}
}

// slotsFor returns the number of slots for n entries.
func slotsFor(n int) int {
	slots := 8
	for slots < 4*n {
		slots *= 2
	}
	return slots
}

func (x *index) mask() uint32 { return uint32(len(x.slots) - 1) }

// first returns where the search for a name begins and, for most names, ends.
func (x *index) first(hash uint64) *uint32 { return &x.slots[uint32(hash)&x.mask()] }

// search returns the slot of name, or the free one where it belongs.
func (x *index) search(hash uint64, name string, list []string) *uint32 {
	slots, mask := x.slots, x.mask()
	tag := uint32(hash>>32) &^ mask
	for i := uint32(hash); ; i++ {
		slot := &slots[i&mask]
		if *slot == 0 || *slot&^mask == tag && x.named(list[*slot&mask-1], name) {
			return slot
		}
	}
}

// taken returns the content of a slot for the entry at position.
func (x *index) taken(hash uint64, position int) uint32 {
	return uint32(hash>>32)&^x.mask() | uint32(position+1)
}

// position returns the position that a slot in use holds.
func (x *index) position(slot uint32) int { return int(slot&x.mask()) - 1 }
