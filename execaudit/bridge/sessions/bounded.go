package sessions

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// bounded returns a copy of the record as its line holds it.
func (r Record) bounded() Record {
	for _, text := range []*string{&r.RequestUID, &r.Namespace, &r.Pod, &r.PodUID, &r.Container, &r.Node, &r.Reason, (*string)(&r.Source), (*string)(&r.Outcome)} {
		*text = cut(*text)
	}
	command := room{texts: MaxArgs, bytes: MaxArgvBytes}
	r.Command = command.takeAll(r.Command)
	r.CommandCut = r.CommandCut || command.cut
	user, cut := boundedUser(r.User)
	r.User, r.UserCut = user, r.UserCut || cut
	r.Time, r.Expiry = r.Time.UTC().Round(0), r.Expiry.UTC().Round(0)
	return r
}

func boundedUser(u token.User) (out token.User, cut bool) {
	name, nameCut := fit(u.Name, MaxTextBytes)
	uid, uidCut := fit(u.UID, MaxTextBytes)
	groups := room{texts: MaxUserTexts, bytes: MaxUserBytes}
	extra := room{texts: MaxUserTexts, bytes: MaxUserBytes}
	out = token.User{Name: name, UID: uid, Groups: groups.takeAll(u.Groups)}
	for _, key := range slices.Sorted(maps.Keys(u.Extra)) {
		kept := extra.take(key)
		if extra.cut {
			break // half a key would be another one
		}
		if out.Extra == nil {
			out.Extra = map[string][]string{}
		}
		out.Extra[kept] = extra.takeAll(u.Extra[key])
	}
	return out, nameCut || uidCut || groups.cut || extra.cut
}

// room is what is left of a bound, and whether something did not fit.
type room struct {
	texts, bytes int
	cut          bool
}

// take returns a text as far as it fits.
func (r *room) take(text string) string {
	if r.texts == 0 {
		r.cut = true
		return ""
	}
	kept, cut := fit(text, r.bytes)
	r.texts--
	r.bytes -= len(kept)
	r.cut = cut
	return kept
}

// takeAll returns a copy of a list as far as it fits, the text that crosses the bound cut.
func (r *room) takeAll(list []string) []string {
	var kept []string
	for _, text := range list {
		if r.cut || r.texts == 0 {
			r.cut = true
			break
		}
		kept = append(kept, r.take(text))
	}
	return kept
}

// fit returns the beginning of a text that has at most limit bytes and whole characters, with U+FFFD for each byte that
// is not UTF-8, and whether that is not all of it.
func fit(text string, limit int) (string, bool) {
	kept := beginning(text, limit)
	cut := len(kept) < len(text)
	if utf8.ValidString(kept) {
		return kept, cut
	}
	whole := string([]rune(kept))
	kept = beginning(whole, limit)
	return kept, cut || len(kept) < len(whole)
}

func beginning(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for back := 0; back < utf8.UTFMax && limit > 0 && !utf8.RuneStart(text[limit]); back++ {
		limit--
	}
	return text[:limit]
}

func cut(text string) string {
	kept, _ := fit(text, MaxTextBytes)
	return kept
}
