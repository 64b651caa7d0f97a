package agent

import (
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// names are in names that speak of a secret, in lower case; so is one of keyNames before "key", and nameEnds at the end
// of a name or of a part of one.
var (
	names = []string{
		"passwd", "password", "passwrd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "authorization",
		"cookie",
	}
	keyNames = []string{"api", "access", "private", "auth", "account", "encryption", "master"}
	nameEnds = []string{"pass", "passin", "passout"}
)

// secretName reports whether a name, in lower case, speaks of a secret.
func secretName(name string) bool {
	for _, part := range names {
		if strings.Contains(name, part) {
			return true
		}
	}
	if before, _, ok := strings.Cut(name, "key"); ok {
		before = strings.TrimRight(before, "_-")
		for _, part := range keyNames {
			if strings.HasSuffix(before, part) {
				return true
			}
		}
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '.' }) {
		for _, end := range nameEnds {
			if strings.HasSuffix(part, end) {
				return true
			}
		}
	}
	return false
}

// headerName reports whether a name is of a header whose value is a secret up to its line's end.
func headerName(name string) bool {
	return strings.Contains(name, "authorization") || strings.Contains(name, "cookie") ||
		strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "private-")
}

// issued are the beginnings of tokens, and how long these are at least.
var issued = []struct {
	prefix string
	length int
}{
	{"AKIA", 16},
	{"ASIA", 16},
	{"ghp_", 20},
	{"gho_", 20},
	{"ghu_", 20},
	{"ghs_", 20},
	{"ghr_", 20},
	{"github_pat_", 12},
	{"glpat-", 16},
	{"xoxa-", 8},
	{"xoxb-", 8},
	{"xoxe-", 8},
	{"xoxp-", 8},
	{"xoxr-", 8},
	{"xoxs-", 8},
	{"sk_live_", 10},
	{"hvs.", 8},
	{"eyJ", 12},
}

// issuedAt returns where a token begins in a word, -1 for nowhere.
func issuedAt(word string) int {
	for _, t := range issued {
		at := strings.Index(word, t.prefix)
		if at < 0 || len(word)-at < t.length || at > 0 && word[at-1] != '-' && word[at-1] != '.' {
			continue
		}
		if t.prefix != "eyJ" || strings.Contains(word[at:], ".") {
			return at
		}
	}
	return -1
}

func inWord(c byte) bool { return inRun(c) && c != '+' || c == '.' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skip returns the first index from i on at which f does not hold.
func skip(text string, i int, f func(byte) bool) int {
	for i < len(text) && f(text[i]) {
		i++
	}
	return i
}

// replaceSecrets goes once through a text, word by word.
func replaceSecrets(text, lower string) string {
	var b strings.Builder
	copied := 0
	replace := func(from, to int) int {
		if from < to {
			b.WriteString(text[copied:from])
			b.WriteString(redact.Mark)
			copied = to
		}
		return to
	}
	for i := 0; i < len(text); {
		if !inWord(text[i]) {
			if end := userEnd(text, i); end > 0 {
				i = replace(i+len("://"), end)
			} else {
				i++
			}
			continue
		}
		end := skip(text, i, inWord)
		word := lower[i:end]
		if strings.HasPrefix(word, "-----begin") && strings.Contains(lower[end:], "private key-----") {
			replace(i, len(text))
			break
		}
		if from, to := secretAfter(text, i, end, word); from < to {
			i = replace(from, to)
			continue
		}
		if at := issuedAt(text[i:end]); at >= 0 {
			replace(i+at, end)
		}
		i = end
	}
	if copied == 0 {
		return text
	}
	return b.String() + text[copied:]
}

// userEnd returns the end of what stands before the @ of a URL whose :// is at i, 0 for none.
func userEnd(text string, i int) int {
	if !strings.HasPrefix(text[i:], "://") {
		return 0
	}
	end := skip(text, i+3, func(c byte) bool { return !isSpace(c) && c != '/' && c != '@' && c != '"' && c != '\'' })
	if end == i+3 || end == len(text) || text[end] != '@' {
		return 0
	}
	return end
}

// secretAfter returns where the secret behind a word is; from is to for none.
func secretAfter(text string, start, end int, word string) (from, to int) {
	next := skip(text, end, isSpace)
	if word == "bearer" || word == "basic" || word == "negotiate" {
		to = skip(text, next, func(c byte) bool { return inWord(c) || strings.IndexByte("+/=~", c) >= 0 })
		if next > end && to-next >= 6 {
			return next, to
		}
	}
	flag := word[0] == '-'
	if !secretName(word) && !headerSecret(word) {
		return 0, 0
	}
	if flag && next > end && (start == 0 || isSpace(text[start-1])) {
		return next, valueEnd(text, next)
	}
	if at := skip(text, end, func(c byte) bool { return c == '"' || c == '\'' }); at-end <= 1 {
		next = skip(text, at, isSpace)
	}
	if next == len(text) || text[next] != '=' && text[next] != ':' {
		return 0, 0
	}
	from = skip(text, next+1, isSpace)
	switch {
	case flag && start == 0 && text[next] == '=':
		return next + 1, len(text)
	case text[next] == ':' && headerName(word):
		from = skip(text, from, func(c byte) bool { return c == '"' || c == '\'' })
		return from, skip(text, from, func(c byte) bool { return c != '"' && c != '\'' && c != '\r' && c != '\n' })
	}
	return from, valueEnd(text, from)
}

// headerSecret reports whether a name is of a header of one's own that speaks of a secret.
func headerSecret(word string) bool {
	return strings.HasPrefix(word, "x-") && (strings.Contains(word, "key") || strings.Contains(word, "auth"))
}

// valueEnd returns the end of the value at i: a quoted text, also one without its end, and what follows it without a
// space; or a word with quoted parts that have no space.
func valueEnd(text string, i int) int {
	notSpace := func(c byte) bool { return !isSpace(c) }
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		end := strings.IndexByte(text[i+1:], text[i])
		if end < 0 {
			return len(text)
		}
		return skip(text, i+1+end+1, notSpace)
	}
	for i < len(text) && !isSpace(text[i]) {
		if text[i] == '"' || text[i] == '\'' {
			end := skip(text, i+1, func(c byte) bool { return !isSpace(c) && c != text[i] })
			if end == len(text) || text[end] != text[i] {
				break
			}
			i = end
		}
		i++
	}
	return i
}

const (
	// minRun is from which length on a text of capitals, small letters and digits looks like a key in base64.
	minRun = 24
	// minHexRun is the same for hexadecimal digits.
	minHexRun = 32
)

// replaceRuns replaces texts that look like keys.
func replaceRuns(text string) string {
	if len(text) < minRun {
		return text
	}
	var b strings.Builder
	copied := 0
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && inRun(text[end]) {
			end++
		}
		if end-start >= minRun && random(text[start:end]) {
			b.WriteString(text[copied:start])
			b.WriteString(redact.Mark)
			copied = end
		}
		start = end + 1
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

func inRun(c byte) bool {
	return c-'0' <= 9 || c-'a' <= 25 || c-'A' <= 25 || c == '+' || c == '_' || c == '-'
}

// random reports whether a run has digits, small letters and capitals, or is of hexadecimal digits and long.
func random(run string) bool {
	var digits, small, capitals, hex int
	for i := range len(run) {
		switch c := run[i]; {
		case c-'0' <= 9:
			digits++
			hex++
		case c-'a' <= 25:
			small++
			if c <= 'f' {
				hex++
			}
		case c-'A' <= 25:
			capitals++
			if c <= 'F' {
				hex++
			}
		}
	}
	return digits > 0 && small > 0 && capitals > 0 || hex == len(run) && hex >= minHexRun
}

// asciiLower returns the text with the small letters of ASCII for its capitals, and so as long as it was.
func asciiLower(text string) string {
	for i := range len(text) {
		if text[i]-'A' <= 25 {
			lower := []byte(text)
			for ; i < len(lower); i++ {
				if lower[i]-'A' <= 25 {
					lower[i] += 'a' - 'A'
				}
			}
			return string(lower)
		}
	}
	return text
}
