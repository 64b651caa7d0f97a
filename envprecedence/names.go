package envprecedence

import (
	"math/bits"
	"math/rand/v2"
	"strings"
)

// names hashes and compares the names of variables. Its secrets are fresh for each merge and each baseline, so that
// nobody can prepare names that collide.
type names struct {
	secret, factor uint64
	lists          listing
}

// listing says what stands in the list in which an index finds names.
type listing uint8

const (
	environStrings listing = iota // NAME=VALUE
	foldedStrings                 // the same, with names that are compared as on Windows
	bareNames                     // names alone
)

func newNames(p Platform) names {
	if p == PlatformWindows {
		return newNamesIn(foldedStrings)
	}
	return newNamesIn(environStrings)
}

func newNamesIn(lists listing) names {
	secret := rand.Uint64()
	return names{secret: secret, factor: mix(secret^goldenRatio, goldenRatio), lists: lists}
}

// goldenRatio is the fraction of the golden ratio in 64 bits: odd, and without a pattern.
const goldenRatio = 0x9e3779b97f4a7c15

// hash returns the hash of the name that is the first n bytes of an environ string.
//
// It is written out here because hashing is most of the work of a merge, and this costs half of what hash/maphash does:
// it takes 16 bytes at a time and, at last, the final 8, whether they were taken or not.
func (x *names) hash(entry string, n int) uint64 {
	if x.lists == foldedStrings {
		entry = upperName(entry[:n])
		n = len(entry)
	}
	h := x.secret ^ uint64(n)
	if n < 8 {
		return mix(h^shortWord(entry, n), x.factor)
	}
	name, last := entry[:n], word(entry[n-8:])
	for len(name) > 16 {
		h = mix(h^word(name), x.factor^word(name[8:]))
		name = name[16:]
	}
	if len(name) > 8 {
		h ^= word(name)
	}
	return mix(h, x.factor^last)
}

// mix multiplies, so that each bit of the words counts for most bits of the result.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// word returns the first 8 bytes of s as a number; the compiler makes one load of it.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// shortWord returns the first n bytes of s, fewer than 8, as a number.
func shortWord(s string, n int) (w uint64) {
	if len(s) >= 8 {
		return word(s) & (1<<(8*n) - 1)
	}
	for i := range n {
		w |= uint64(s[i]) << (8 * i)
	}
	return w
}

// named says whether an entry of the list has this name.
func (x *names) named(entry, name string) bool {
	if x.lists != environStrings {
		return x.namedOtherwise(entry, name)
	}
	return len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name
}

func (x *names) namedOtherwise(entry, name string) bool {
	if x.lists == bareNames {
		return entry == name
	}
	entryName, _, _ := strings.Cut(entry, "=")
	return upperName(entryName) == upperName(name)
}
