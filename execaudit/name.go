package execaudit

import "strconv"

// NamePattern is what a name must match in full. It is the KEP's; since v1.34
// Container.Env accepts more (any printable ASCII but '='), and upstream's
// function for this same pattern refuses "." and "..", which the KEP accepts.
//
// Source: KEP-6035, Validation.
const NamePattern = "[-._a-zA-Z][-._a-zA-Z0-9]*"

// nameRule is the sentence Kubernetes itself prints for this pattern.
const nameRule = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', " +
	"and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', " +
	"regex used for validation is '" + NamePattern + "')"

// maxShownNameBytes bounds how much of a hostile name an error repeats.
const maxShownNameBytes = 64

// ValidName reports whether name matches NamePattern in full. The empty name
// does not.
func ValidName(name string) bool {
	if name == "" || isDigit(name[0]) {
		return false
	}
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || isDigit(c) || c == '_' || c == '-' || c == '.'
}

func isDigit(c byte) bool {
	return '0' <= c && c <= '9'
}

// shown is as much of a name as an error may repeat.
func shown(name string) string {
	if len(name) <= maxShownNameBytes {
		return name
	}
	return name[:maxShownNameBytes] + "..."
}

// printable is shown, quoted where that might break or forge a line.
func printable(name string) string {
	if ValidName(name[:min(len(name), maxShownNameBytes)]) {
		return shown(name)
	}
	return strconv.Quote(shown(name))
}
