package envprecedence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Platform says how a container's operating system compares the names of variables. The zero value is PlatformLinux.
type Platform uint8

const (
	// PlatformLinux compares names byte by byte.
	PlatformLinux Platform = iota
	// PlatformWindows compares names without regard to case. The result keeps the spelling of the winning entry.
	//
	// Letters are compared by their simple upper case, one rune at a time, and a rune outside ASCII never equals one in
	// ASCII, as in the system's own table: the Kelvin sign is not k. Bytes that are not UTF-8 equal only themselves.
	// The hidden entries such as "=C:=C:\dir" have no name in the OCI format and count as malformed.
	PlatformWindows
)

// upperName returns name in the case that Windows compares in.
func upperName(name string) string {
	if i := firstUnfolded(name); i < len(name) {
		return upperFrom(name, i)
	}
	return name
}

// firstUnfolded returns the index of the first byte that folding might change.
func firstUnfolded(name string) int {
	for i := range len(name) {
		if c := name[i]; 'a' <= c && c <= 'z' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(name)
}

func upperFrom(name string, start int) string {
	var b strings.Builder
	b.Grow(len(name))
	b.WriteString(name[:start])
	for i := start; i < len(name); {
		r, width := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && width == 1 {
			b.WriteByte(name[i]) // the rune error would make all broken bytes equal
		} else {
			b.WriteRune(upperRune(r))
		}
		i += width
	}
	return b.String()
}

func upperRune(r rune) rune {
	if upper := unicode.ToUpper(r); (r < utf8.RuneSelf) == (upper < utf8.RuneSelf) {
		return upper
	}
	return r
}
