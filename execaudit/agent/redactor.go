package agent

import (
	"path"
	"regexp"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// secretName matches a name that speaks of a secret.
const secretName = `[\w.-]*(?:passwo?r?d|passphrase|passcode|pass(?:in|out)?\b|pwd|secret|token|credential|` +
	`(?:api|access|private|auth|account|encryption|master)[_-]?key|authorization|cookie)[\w.-]*`

// secretValue matches what stands behind such a name: a quoted text, also one without its end, and what follows it
// without a space; or a word with quoted parts that have no space.
const secretValue = `(?:(?:"[^"]*"?|'[^']*'?)\S*|[^\s"']+(?:(?:"[^"\s]*"|'[^'\s]*')[^\s"']*)*)`

// pattern is one of a secret. What its first group matches stays, and so does after. It can match only in a text that
// has one of the hints, in lower case, and each of needs.
type pattern struct {
	match *regexp.Regexp
	after string
	hints []string
	needs string // bytes
}

// nameHints are in every secretName.
var nameHints = []string{"pass", "pwd", "secret", "token", "key", "credential", "authorization", "cookie"}

// The patterns of secrets, in the order in which they are replaced.
var secrets = []pattern{
	{match: regexp.MustCompile(`(?s)()-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*`), hints: []string{"private key-----"}},
	{match: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/@"']+@`), after: "@", hints: []string{"://"}, needs: "@"},
	{
		match: regexp.MustCompile(`(?i)(\b(?:proxy-)?(?:authorization|cookie|set-cookie|` +
			`(?:private|x)-[\w-]*(?:token|key|secret|auth)[\w-]*)["']?\s*:\s*["']?)[^"'\r\n]+`),
		hints: []string{"authorization", "cookie", "private-", "x-"}, needs: ":",
	},
	{match: regexp.MustCompile(`(?is)(^--?` + secretName + `=).+`), hints: nameHints, needs: "-="},
	{match: regexp.MustCompile(`(?i)(` + secretName + `["']?\s*=\s*)` + secretValue), hints: nameHints, needs: "="},
	{match: regexp.MustCompile(`(?i)(` + secretName + `["']?\s*:\s*)` + secretValue), hints: nameHints, needs: ":"},
	{match: regexp.MustCompile(`(?i)((?:^|\s)--?` + secretName + `\s+)` + secretValue), hints: nameHints, needs: "-"},
	{match: regexp.MustCompile(`(?i)(\b(?:bearer|basic|negotiate)\s+)[A-Za-z0-9+/_.=~-]{6,}`), hints: []string{
		"bearer",
		"basic", "negotiate",
	}},
	{
		match: regexp.MustCompile(`()\b(?:(?:AKIA|ASIA)[A-Z0-9]{12,}|gh[pousr]_\w{16,}|github_pat_\w+|` +
			`glpat-[\w-]{10,}|xox[abeprs]-[\w-]+|sk_live_\w+|hvs\.[\w-]+|eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?)`),
		hints: []string{
			"akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "sk_live_",
			"hvs.", "eyj",
		},
	},
}

// may reports whether the pattern can match in a text, of which lower is it in lower case.
func (p *pattern) may(lower string) bool {
	for i := range len(p.needs) {
		if strings.IndexByte(lower, p.needs[i]) < 0 {
			return false
		}
	}
	return hinted(lower, p.hints)
}

func hinted(lower string, hints []string) bool {
	for _, hint := range hints {
		if strings.Contains(lower, hint) {
			return true
		}
	}
	return false
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
	if name, _, ok := strings.Cut(arg, ":"); ok && login && !strings.Contains(arg, "://") {
		return name + ":" + redact.Mark
	}
	if short, ok := r.short(arg); ok {
		return short
	}
	lower := strings.ToLower(arg)
	r.secret = strings.HasPrefix(arg, "-") && hinted(lower, nameHints) && secretFlag.MatchString(arg)
	return replaceRuns(replaceSecrets(arg, lower))
}

// passwordFlags are programs whose password is in a flag of one letter.
var passwordFlags = map[string]string{
	"mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mariadb": "-p", "mariadb-dump": "-p", "mongo": "-p",
	"mongosh": "-p", "sshpass": "-p",
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

// replaceSecrets replaces what the patterns match. Replacing adds nothing in which one could match that could not
// before.
func replaceSecrets(text, lower string) string {
	for i := range secrets {
		if p := &secrets[i]; p.may(lower) {
			text = p.match.ReplaceAllString(text, "${1}"+redact.Mark+p.after)
		}
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
