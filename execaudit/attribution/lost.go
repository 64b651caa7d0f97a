package attribution

import "hash/fnv"

// lostIDs remembers in a fixed space which audit IDs were evicted; it may take others for evicted, never the reverse.
type lostIDs struct{ bits []uint64 }

const lostBits = 1 << 20 // 128 KiB, made at the first eviction

func (l *lostIDs) add(id string) {
	if l.bits == nil {
		l.bits = make([]uint64, lostBits/64)
	}
	a, b := l.places(id)
	l.bits[a/64] |= 1 << (a % 64)
	l.bits[b/64] |= 1 << (b % 64)
}

func (l *lostIDs) has(id string) bool {
	if l.bits == nil {
		return false
	}
	a, b := l.places(id)
	return l.bits[a/64]&(1<<(a%64)) != 0 && l.bits[b/64]&(1<<(b%64)) != 0
}

func (*lostIDs) places(id string) (a, b uint64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	sum := h.Sum64()
	return sum % lostBits, sum >> 32 % lostBits
}
