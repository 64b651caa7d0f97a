package agent

import (
	"path"
	"regexp"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// secretName matches a name that speaks of a secret.
const secretName = `[\w.-]*(?:passwo?r?d|passphrase|passcode|pass(?:in|out)?\b|pwd|secret|token|api[_-]?key|access[_-]?key|` +
	`private[_-]?key|auth[_-]?key|account[_-]?key|encryption[_-]?key|master[_-]?key|credential|authorization|cookie)[\w.-]*`

// secretValue matches what stands behind such a name: a quoted text, also one without its end, and what follows it without
// a space; or a word with quoted parts that have no space.
const secretValue = `(?:(?:"[^"]*"?|'[^']*'?)\S*|[^\s"']+(?:(?:"[^"\s]*"|'[^'\s]*')[^\s"']*)*)`

// The patterns of secrets, in the order in which they are replaced. What their first group matches stays.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(?s)()-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*`),
	regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/@"']+(?:@)`),
	regexp.MustCompile(`(?i)(\b(?:proxy-)?(?:authorization|cookie|set-cookie|(?:private|x)-[\w-]*(?:token|key|secret|auth)[\w-]*)["']?\s*:\s*["']?)[^"'\r\n]+`),
	regexp.MustCompile(`(?is)(^--?` + secretName + `=).+`),
	regexp.MustCompile(`(?i)(` + secretName + `["']?\s*[=:]\s*)` + secretValue),
	regexp.MustCompile(`(?i)((?:^|\s)--?` + secretName + `\s+)` + secretValue),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic|negotiate)\s+)[A-Za-z0-9+/_.=~-]{6,}`),
	regexp.MustCompile(`()\b(?:(?:AKIA|ASIA)[A-Z0-9]{12,}|gh[pousr]_\w{16,}|github_pat_\w+|glpat-[\w-]{10,}|xox[abeprs]-[\w-]+|` +
		`sk_live_\w+|hvs\.[\w-]+|eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?)`),
}

// hints are in every text in which one of the patterns matches, in lower case.
var hints = []string{
	"pass", "pwd", "psw", "secret", "token", "key", "credential", "auth", "cookie", "bearer", "basic", "negotiate", "://", "akia", "asia",
	"gh", "glpat", "xox", "sk_live", "hvs.", "eyj",
}

var secretFlag = regexp.MustCompile(`(?i)^--?` + secretName + `$`)

// redactor goes through the arguments of one program.
type redactor struct {
	program string
	count   int
	secret  bool // the next one is a secret
	login   bool // the next one may be NAME:PASSWORD
}

// next returns an argument without what looks like a secret.
func (r *redactor) next(arg string) string {
	r.count++
	if r.count == 1 {
		r.program = path.Base(arg)
	}
	secret, login := r.secret, r.login
	r.secret, r.login = false, false
	if secret && arg != "" {
		return redact.Mark
	}
	lower := strings.ToLower(arg)
	if name, _, ok := strings.Cut(arg, ":"); ok && login && !strings.Contains(arg, "://") {
		return name + ":" + redact.Mark
	}
	if short, ok := r.short(arg); ok {
		return short
	}
	for _, hint := range hints {
		if strings.Contains(lower, hint) {
			r.secret = secretFlag.MatchString(arg)
			arg = replaceSecrets(arg)
			break
		}
	}
	return replaceRuns(arg)
}

// passwordFlags are programs whose password is in a flag of one letter.
var passwordFlags = map[string]string{
	"mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mariadb": "-p", "mariadb-dump": "-p", "mongo": "-p", "mongosh": "-p", "sshpass": "-p",
	"redis-cli": "-a", "ldapsearch": "-w", "ldapadd": "-w", "ldapmodify": "-w", "smbclient": "-U",
}

// short treats flags of one letter. It returns false for all others.
func (r *redactor) short(arg string) (string, bool) {
	flag := passwordFlags[r.program]
	switch {
	case flag != "" && arg == flag:
		// A client of MySQL asks for the password then, and what follows is no secret.
		r.secret = !strings.HasPrefix(r.program, "mysql") && !strings.HasPrefix(r.program, "mariadb")
		return arg, true
	case flag != "" && strings.HasPrefix(arg, flag):
		return flag + redact.Mark, true
	case arg == "-u" || arg == "-U" || arg == "--user" || arg == "--proxy-user" || arg == "--userpwd":
		r.login = true
		return arg, true
	}
	return "", false
}

func replaceSecrets(text string) string {
	for i, pattern := range secrets {
		with := "${1}" + redact.Mark
		if i == 1 {
			with += "@"
		}
		text = pattern.ReplaceAllString(text, with)
	}
	return text
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
