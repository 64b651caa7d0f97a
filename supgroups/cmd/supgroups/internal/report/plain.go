package report

import (
	"strconv"
	"strings"
)

// Plain returns a name as it is when it is printable ASCII without blanks, quotes and backslashes, else quoted: names
// come from images and dumps, a terminal obeys escape sequences, and blanks could pass for further columns.
func Plain(s string) string {
	if quoted := strconv.QuoteToASCII(s); quoted[1:len(quoted)-1] != s || strings.Contains(s, " ") {
		return quoted
	}
	return s
}
