package report

import "strconv"

// Plain returns s as it is when it is harmless to print, else quoted: names come from images and dumps, and a terminal
// obeys escape sequences.
func Plain(s string) string {
	if quoted := strconv.QuoteToASCII(s); quoted[1:len(quoted)-1] != s {
		return quoted
	}
	return s
}
