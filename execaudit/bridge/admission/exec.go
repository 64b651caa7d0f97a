package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// exec is one decision about an exec.
type exec struct {
	Input
	policy   Policy
	signWith Signer
	target
}

// decide answers for the mutating webhook.
func (e exec) decide() Decision {
	d := Decision{
		Allowed: true, Session: e.Session, Record: true, Target: e.forRecord(), Command: e.Request.Command,
	}
	if places := tokens(e.Request.Command); len(places) > 0 {
		return e.again(d, places)
	}
	key, reason, passing := e.signer()
	if reason != "" {
		if e.policy.Unready == ChoiceRefuse && !passing {
			return d.refused(reason, "no token can be signed for this exec: "+reason)
		}
		d.Outcome, d.Reason = bridge.OutcomeUnmarked, reason
		return d
	}
	begin := e.Now.UTC().Truncate(time.Second)
	t := token.Token{
		Session: e.Session, Nonce: e.Nonce,
		Pod: e.pod.ID, Container: e.container.Name, Node: e.pod.Node,
		NotBefore: begin, Expiry: begin.Add(e.policy.lifetime()),
		Requester: key.Requester(e.Session, e.Request.User),
		Unmarked:  e.optedOut() != "",
	}
	d = e.sign(d, key, t, e.Request.Command)
	if d.Allowed {
		d.Patch = []Operation{{"add", "/command/0", d.Patch[0].Value}}
	}
	return d
}

// sign fills the token in and returns the decision with one operation, whose value is the token's text.
func (e exec) sign(d Decision, key token.Key, t token.Token, rest []string) Decision {
	if i := slices.IndexFunc(rest, unfaithful); i >= 0 {
		return d.refused("a command that JSON cannot carry", fmt.Sprintf(
			"element %d of the command holds a NUL or is not valid UTF-8 (U+FFFD stands in its place), which a signed command cannot have",
			i+1))
	}
	t.Command = token.Digest(rest, e.Request.TTY)
	text, err := key.Sign(t)
	if err != nil {
		return d.refused("no token can be signed", "no token can be signed for this exec: "+err.Error())
	}
	d = e.signed(d, t, rest)
	d.Patch = []Operation{{Value: text}}
	return d
}

// signed is a decision about a command that has the token. Who opted out of the kernel's mark has the variable and the
// node's record all the same.
func (e exec) signed(d Decision, t token.Token, rest []string) Decision {
	d.Outcome, d.Session, d.Node, d.Expiry, d.Command = bridge.OutcomeMarked, t.Session, t.Node, t.Expiry, rest
	if t.Unmarked {
		d.Reason = "in the environment alone, since " + cmp.Or(e.optedOut(), "the pod opted out")
	}
	return d
}

// unfaithful reports whether an element may not be what the user sent. A patch makes the API server carry the whole
// command through JSON, which puts U+FFFD in the place of bytes that are not UTF-8: another command would be executed
// than was asked for. A U+FFFD that the user himself sent looks the same here. Without a patch the bytes stay. A NUL
// ends an argument for the kernel, so no command with one is executed as it was signed.
func unfaithful(element string) bool { return strings.ContainsAny(element, "\x00\uFFFD") }

// again decides about a command that holds something like a token. Ours, of this very request, is the sign of a second
// call: the session and the nonce stay.
func (e exec) again(d Decision, places []int) Decision {
	t, key, err := e.own(places)
	if err != nil {
		return d.refused(err.Error(), "the command is refused: "+err.Error())
	}
	at := places[0]
	rest := slices.Delete(slices.Clone(e.Request.Command), at, at+1)
	d.Record = false
	if at == 0 && token.Digest(rest, e.Request.TTY) == t.Command {
		return e.signed(d, t, rest)
	}
	// Another webhook changed the command. What is written down is the command that will be executed.
	d.Record = true
	d = e.sign(d, key, t, rest)
	if d.Allowed {
		d.Patch = []Operation{
			{Op: "remove", Path: "/command/" + strconv.Itoa(at)},
			{"add", "/command/0", d.Patch[0].Value},
		}
	}
	return d
}

// own returns the only token of the command and the key that signed it, if it was signed for this request's user, pod
// and container. Its error says in a few words why it was not.
func (e exec) own(places []int) (token.Token, token.Key, error) {
	at := places[0]
	if len(places) > 1 {
		return token.Token{}, token.Key{}, fmt.Errorf("elements %d and %d hold something like a token", at+1, places[1]+1)
	}
	text := e.Request.Command[at]
	t, err := e.signWith.public.Verify(text, e.Now, signedAhead)
	if err != nil {
		return token.Token{}, token.Key{}, fmt.Errorf("element %d holds something like a token", at+1)
	}
	_, id, _ := token.Parse(text) // which was verified
	key := e.signWith.key(id.String())
	switch {
	case t.Requester != key.Requester(t.Session, e.Request.User):
		err = fmt.Errorf("element %d is a token of another user", at+1)
	case !e.isFor(t):
		err = fmt.Errorf("element %d is a token for another container", at+1)
	}
	return t, key, err
}

// signedAhead is for replicas of the webhook whose clocks are apart.
const signedAhead = 5 * time.Second

// tokens returns the places of the elements that hold something like a token.
func tokens(command []string) []int {
	var places []int
	for i, element := range command {
		if token.Like(element) {
			places = append(places, i)
		}
	}
	return places
}

// signer returns the key to sign with, or why none can. Passing says that the API server refuses the request itself,
// with a better message than ours, or that there is nothing to execute.
func (e exec) signer() (key token.Key, reason string, passing bool) {
	switch {
	case e.problem != "":
		return token.Key{}, e.problem, e.passing
	case len(e.Request.Command) == 0:
		return token.Key{}, "there is no command", true
	}
	c := readiness.Container{Handler: e.Known.Handler, PodStarted: e.pod.Started, Started: e.container.Started}
	id, err := e.Known.Lease.Covers(c, e.signWith.may(), e.Now)
	if err != nil {
		return token.Key{}, err.Error(), false
	}
	return e.signWith.key(id), "", false
}

// optedOut returns who opted out of the kernel's mark; empty is nobody.
func (e exec) optedOut() string {
	switch {
	case e.pod != nil && e.pod.OptedOut:
		return "the pod opted out"
	case e.Known.NamespaceOptedOut:
		return "the namespace opted out"
	}
	return ""
}
