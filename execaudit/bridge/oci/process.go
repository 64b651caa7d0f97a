package oci

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// MaxProcessBytes is the most that a process file may have. Linux starts no program with more than 6 MiB of arguments
// and environment, which are 36 MiB in the longest spelling of JSON.
const MaxProcessBytes = 40 << 20 // 40 MiB

// auditIDName is KEP-6035's variable.
const auditIDName = "KUBERNETES_EXEC_AUDIT_ID"

// Process is a process file of an exec: what the OCI runtime specification calls process, as JSON.
type Process struct {
	// Args and Env are as the runtime decodes them: what is not valid UTF-8 is U+FFFD.
	Args, Env []string
	// Terminal says whether the process has a terminal.
	Terminal bool

	text      []byte
	args, env jsonspan.Span
	hasEnv    bool
	open      int // behind the object's opening brace
}

// Format prints how many arguments and variables there are, for every verb: Env has secrets.
func (p Process) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, p.count()) }

// MarshalText returns what Format prints. Rewrite returns the file's own text.
func (p Process) MarshalText() ([]byte, error) { return []byte(p.count()), nil }

// LogValue returns what Format prints.
func (p Process) LogValue() slog.Value { return slog.StringValue(p.count()) }

func (p Process) count() string {
	return "process of " + strconv.Itoa(len(p.Args)) + " arguments and " + strconv.Itoa(len(p.Env)) + " variables"
}

// ParseProcess reads a process file, which it keeps and does not change. Its error is a *[ProcessFault]: not one JSON
// object, args or env not an array of strings, terminal not a boolean, or one of the three given twice or in another
// case, since runtimes differ in which of them they take. Null is as if absent.
func ParseProcess(text []byte) (Process, error) {
	root, err := jsonspan.Parse(text)
	if err != nil {
		return Process{}, &ProcessFault{err.Error()}
	}
	if !jsonspan.IsObject(text, root) {
		return Process{}, &ProcessFault{"not a JSON object"}
	}
	p := Process{text: text, open: root.Start + 1}
	seen := map[string]bool{}
	for name, at := range jsonspan.Members(text, root) {
		known := knownName(name)
		if known == "" {
			continue
		}
		if name != known || seen[known] {
			return Process{}, &ProcessFault{known + " is there twice, or in another case"}
		}
		seen[known] = true
		null, ok := jsonspan.IsNull(text, at), true
		switch {
		case known == "env":
			p.env, p.hasEnv = at, true
			p.Env, ok = jsonspan.Strings(text, at)
		case known == "args":
			p.args = at
			p.Args, ok = jsonspan.Strings(text, at)
		default:
			p.Terminal, ok = jsonspan.Bool(text, at)
		}
		if !ok && !null {
			return Process{}, &ProcessFault{known + " has a value of the wrong form"}
		}
	}
	return p, nil
}

// knownName returns which of the names that are read here a name is, in any case; encoding/json ignores case.
func knownName(name string) string {
	for _, known := range [...]string{"args", "env", "terminal"} {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	return ""
}

// HoldsToken reports whether something like a token stands anywhere in a text that may be no JSON, escaped or not.
func HoldsToken(text []byte) bool { return jsonspan.Contains(text, token.Prefix) }

// Split returns the element that is a token, which stands first, and the command behind it, which aliases Args. Without
// a token it returns "". Its error is a *[CommandFault]: something like a token elsewhere, no command behind it, or a
// NUL byte in it.
func (p Process) Split() (element string, command []string, err error) {
	at := slices.IndexFunc(p.Args, token.Like)
	if at < 0 {
		return "", nil, nil
	}
	if at > 0 || !strings.HasPrefix(p.Args[0], token.Prefix) {
		return "", nil, &CommandFault{at, ErrPlace}
	}
	command = p.Args[1:]
	if again := slices.IndexFunc(command, token.Like); again >= 0 {
		return "", nil, &CommandFault{again + 1, ErrPlace}
	}
	if len(command) == 0 || command[0] == "" {
		return "", nil, &CommandFault{1, ErrNoCommand}
	}
	for i, element := range command {
		if strings.ContainsRune(element, 0) {
			return "", nil, &CommandFault{i + 1, ErrNUL}
		}
	}
	return p.Args[0], command, nil
}

// AuditID returns the value of KEP-6035's variable, where the runtime set it: not one of the entries that the bundle
// has, which the author of the workload wrote. Without one it is "".
func (p Process) AuditID(bundle []string) string {
	for _, entry := range slices.Backward(p.Env) {
		if value, ok := strings.CutPrefix(entry, auditIDName+"="); ok && value != "" && !slices.Contains(bundle, entry) {
			return value
		}
	}
	return ""
}

// Rewrite returns the text without args[0], which must be there, and with every entry of [bridge.SessionName] in env
// replaced by one with the value session, first in env; for "" by none. All other bytes are as they were, but that
// white space between the entries of env goes where one is taken away.
//
// The other entries of env stay as they are, malformed and duplicate ones too. What a runtime makes of the whole is what
// envprecedence.Merge makes of it with ours as the runtime's tier.
func (p Process) Rewrite(session string) []byte {
	type edit struct {
		jsonspan.Span
		text []byte
	}
	var edits []edit
	entry := jsonspan.AppendString(nil, bridge.SessionName+"="+session)
	switch kept, ours := p.entries(); {
	case !p.hasEnv && session == "", p.hasEnv && !ours && session == "":
	case !p.hasEnv:
		text := append(append([]byte(`"env":[`), entry...), "],"...)
		edits = append(edits, edit{jsonspan.Span{Start: p.open, End: p.open}, text})
	case !ours && len(kept) > 0:
		edits = append(edits, edit{jsonspan.Span{Start: p.env.Start + 1, End: p.env.Start + 1}, append(entry, ',')})
	default:
		if session != "" {
			kept = slices.Insert(kept, 0, entry)
		}
		edits = append(edits, edit{p.env, append(append([]byte{'['}, bytes.Join(kept, []byte{','})...), ']')})
	}
	edits = append(edits, edit{p.first(), nil})
	slices.SortFunc(edits, func(a, b edit) int { return a.Start - b.Start })
	out, at := make([]byte, 0, len(p.text)+len(entry)+16), 0
	for _, e := range edits {
		out = append(append(out, p.text[at:e.Start]...), e.text...)
		at = e.End
	}
	return append(out, p.text[at:]...)
}

// entries returns the texts of env's entries but ours, and whether there are any of ours.
func (p Process) entries() (kept [][]byte, ours bool) {
	if !p.hasEnv {
		return nil, false
	}
	i := 0
	for at := range jsonspan.Elements(p.text, p.env) {
		if name, _, _ := strings.Cut(p.Env[i], "="); name == bridge.SessionName {
			ours = true
		} else {
			kept = append(kept, at.Of(p.text))
		}
		i++
	}
	return kept, ours
}

// first returns where args[0] stands, with the comma behind it.
func (p Process) first() jsonspan.Span {
	cut := jsonspan.Span{Start: -1}
	for at := range jsonspan.Elements(p.text, p.args) {
		if cut.Start >= 0 {
			cut.End = at.Start
			break
		}
		cut = at
	}
	return cut
}
