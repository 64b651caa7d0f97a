package credprovider

import "strings"

const maxTag = 128 // bytes

// isDomain reports whether s is a host name or a bracketed IPv6 address, with an optional port.
func isDomain(s string) bool {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		address, port, closed := strings.Cut(rest, "]")
		return closed && address != "" && strings.Trim(address, "0123456789abcdefABCDEF:") == "" && isPortSuffix(port)
	}
	host, port, hasPort := strings.Cut(s, ":")
	if hasPort && !isPortSuffix(":"+port) {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if !isWord(strings.ToLower(label), "-") || !isASCII(label) {
			return false
		}
	}
	return true
}

// isPortSuffix reports whether s is empty, or a colon and digits.
func isPortSuffix(s string) bool {
	return s == "" || len(s) > 1 && s[0] == ':' && strings.Trim(s[1:], "0123456789") == ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isRepositoryPath reports whether every part of s is made of lower-case letters and digits, with one dot, one or two
// underscores, or any number of dashes between them.
func isRepositoryPath(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !isWord(part, "._-") || !separatorsAreSingle(part) {
			return false
		}
	}
	return true
}

func separatorsAreSingle(part string) bool {
	for i := 0; i < len(part); {
		n := 0
		for !isAlnum(part[i+n]) { // the last byte of a word is one
			n++
		}
		run := part[i : i+n]
		if n > 0 && run != "." && run != "_" && run != "__" && strings.Trim(run, "-") != "" {
			return false
		}
		i += n + 1
	}
	return true
}

func isTag(s string) bool {
	if s == "" || len(s) > maxTag || s[0] == '.' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if !isPlain(s[i]) {
			return false
		}
	}
	return true
}

func isDigest(s string) bool {
	algorithm, hex, _ := strings.Cut(s, ":")
	switch algorithm {
	case "sha256":
		return isHex(hex, 64)
	case "sha384":
		return isHex(hex, 96)
	case "sha512":
		return isHex(hex, 128)
	}
	return false
}

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}
