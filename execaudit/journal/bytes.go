package journal

import (
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// bytesKey is the member that says what bytes the texts are of that are not UTF-8. JSON has no other way to carry
// them: in the text itself each such byte is U+FFFD, which is what readers see that do not know this member.
const bytesKey = "bytes"

// text is a field of a record that may hold any bytes.
type text struct {
	key   string
	value *string
}

func (r *Record) texts() [12]text {
	return [...]text{
		{"node", &r.Node},
		{"containerID", &r.ContainerID},
		{"execID", &r.ExecID},
		{"auditID", &r.AuditID},
		{"execSession", &r.ExecSession},
		{"sandboxID", &r.SandboxID},
		{"namespace", &r.Namespace},
		{"pod", &r.Pod},
		{"podUID", &r.PodUID},
		{"container", &r.Container},
		{"bootID", &r.BootID},
		{"reason", &r.Reason},
	}
}

// withBytes adds the member for texts that are not UTF-8 to a record's line, where there are some.
func withBytes(line []byte, r *Record) ([]byte, error) {
	odd := map[string]any{}
	for _, t := range r.texts() {
		if !utf8.ValidString(*t.value) {
			odd[t.key] = []byte(*t.value)
		}
	}
	if words := oddWords(r.Argv); words != nil {
		odd["argv"] = words
	}
	if len(odd) == 0 {
		return line, nil
	}
	member, err := json.Marshal(odd) // in the order of the keys
	line = append(line[:len(line)-1], `,"`+bytesKey+`":`...)
	return append(append(line, member...), '}'), err
}

// oddWords returns the words that are not UTF-8 in their places among nils; nil where there are none.
func oddWords(argv []string) (words [][]byte) {
	for i, word := range argv {
		if !utf8.ValidString(word) {
			if words == nil {
				words = make([][]byte, len(argv))
			}
			words[i] = []byte(word)
		}
	}
	return words
}

// restore puts the bytes into the record's texts. It reports whether the member fits them: two readers of one line,
// of which one does not know it, must not read two different commands.
func (r *Record) restore(member []byte) bool {
	s, seen := scanner{line: member}, map[string]bool{}
	return s.members(func(key []byte) bool {
		if string(key) == "argv" {
			again := seen["argv"]
			seen["argv"] = true
			return !again && s.restoreWords(r.Argv)
		}
		for _, t := range r.texts() {
			if t.key == string(key) {
				again := seen[t.key]
				seen[t.key] = true
				return !again && s.restoreText(t.value)
			}
		}
		return s.value(1)
	})
}

func (s *scanner) restoreWords(argv []string) bool {
	i := 0
	ok := s.elements(func() bool {
		i++
		switch {
		case i > len(argv):
			return false
		case s.peek() == 'n':
			return s.literal("null")
		}
		return s.restoreText(&argv[i-1])
	})
	return ok && i == len(argv)
}

// restoreText reads bytes in base64 whose text is the one that is there.
func (s *scanner) restoreText(text *string) bool {
	start, plain, ok := s.quoted()
	if !ok || !plain {
		return false
	}
	raw, err := base64.StdEncoding.Strict().AppendDecode(nil, s.line[start:s.pos-1])
	if err != nil || utf8.Valid(raw) || string([]rune(string(raw))) != *text {
		return false
	}
	*text = string(raw)
	return true
}
