package sessions

import (
	"maps"
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// bounded returns a copy of the record within its bounds.
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

func boundedUser(u token.User) (token.User, bool) {
	groups := room{texts: MaxUserTexts, bytes: MaxUserBytes}
	extra := room{texts: MaxUserTexts, bytes: MaxUserBytes}
	out := token.User{Name: cut(u.Name), UID: cut(u.UID), Groups: groups.takeAll(u.Groups)}
	for _, key := range slices.Sorted(maps.Keys(u.Extra)) {
		kept, ok := extra.take(key)
		if !ok || kept != key {
			break // half a key would be another one
		}
		if out.Extra == nil {
			out.Extra = map[string][]string{}
		}
		out.Extra[key] = extra.takeAll(u.Extra[key])
	}
	return out, groups.cut || extra.cut || out.Name != u.Name || out.UID != u.UID
}
