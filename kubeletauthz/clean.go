package kubeletauthz

import "strings"

// Clean reports whether every router reads a request's path the same way, so that its first segment says which handler
// will run. path and rawPath are as in [Mapper.Map].
//
// These are not clean: an empty path or one without a leading slash; an empty segment ("//"), "." or "..", also if they
// were encoded; a backslash or a ";", which some file systems and proxies take for separators; a separator that is
// still encoded (%2F or %5C) in path or rawPath; and control characters. One trailing slash is clean, and so is
// non-ASCII text.
func Clean(path, rawPath string) bool {
	return cleanSegments(path) && !escapedSeparator(path) && (rawPath == "" || !escapedSeparator(rawPath))
}

// cleanSegments walks the path once; start is where the current segment begins.
func cleanSegments(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	start := 1
	for i := 1; i < len(path); i++ {
		c := path[i]
		if 'a' <= c && c <= 'z' { // most of them, so asked first
			continue
		}
		switch {
		case c == '/':
			if i == start || dots(path[start:i]) {
				return false
			}
			start = i + 1
		case c == '\\' || c == ';' || c < ' ' || c == 0x7f:
			return false
		}
	}
	return !dots(path[start:])
}

func dots(segment string) bool { return segment == "." || segment == ".." }

// escapedSeparator finds %2F and %5C in either case.
func escapedSeparator(path string) bool {
	for {
		i := strings.IndexByte(path, '%')
		if i < 0 || i+2 >= len(path) {
			return false
		}
		if hi, lo := path[i+1], path[i+2]|0x20; hi == '2' && lo == 'f' || hi == '5' && lo == 'c' {
			return true
		}
		path = path[i+1:]
	}
}
