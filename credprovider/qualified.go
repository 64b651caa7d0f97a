package credprovider

import "strings"

const (
	maxNamePart   = 63  // bytes of a qualified name after the slash
	maxPrefixPart = 253 // bytes of a DNS subdomain

	nameRule   = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	prefixRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
)

// qualifiedNameFaults returns the rules for annotation keys that a lower-cased key breaks, in upstream's words without
// the regular expressions at their end.
func qualifiedNameFaults(key string) []string {
	prefix, name, hasPrefix := strings.Cut(key, "/")
	if !hasPrefix {
		return namePartFaults(key)
	}
	if strings.Contains(name, "/") {
		return []string{"a valid label key " + nameRule + ", with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	}
	return append(prefixPartFaults(prefix), namePartFaults(name)...)
}

func namePartFaults(name string) []string {
	var rules []string
	switch {
	case name == "":
		rules = append(rules, "name part must be non-empty")
	case len(name) > maxNamePart:
		rules = append(rules, "name part must be no more than 63 bytes")
	}
	if !isWord(name, "-_.") {
		rules = append(rules, "name part "+nameRule)
	}
	return rules
}

func prefixPartFaults(prefix string) []string {
	if prefix == "" {
		return []string{"prefix part must be non-empty"}
	}
	var rules []string
	if len(prefix) > maxPrefixPart {
		rules = append(rules, "prefix part must be no more than 253 bytes")
	}
	for label := range strings.SplitSeq(prefix, ".") {
		if !isWord(label, "-") {
			return append(rules, "prefix part "+prefixRule)
		}
	}
	return rules
}

// isWord reports whether s begins and ends with a lower-case letter or a digit, and has only those and inner between.
func isWord(s, inner string) bool {
	if s == "" || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte(inner, s[i]) < 0 {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
