package agent

import (
	"path"
	"strings"

	"github.com/lanyard-dev/lanyard/redact"
)

// secretFlag reports whether an argument is a flag whose value is the next one.
func secretFlag(lower string) bool {
	return strings.HasPrefix(lower, "-") && skip(lower, 0, inWord) == len(lower) && secretName(lower)
}

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
	lower := asciiLower(arg)
	r.secret = secretFlag(lower)
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
