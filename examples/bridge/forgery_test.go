package bridge_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// TestForgeryAtTheNode has tokens reach the node past the webhook, by the runtime's socket.
func TestForgeryAtTheNode(t *testing.T) {
	r := rigOf(t)
	key, stranger := r.Key(), token.NewKey()
	command := []string{"/reporter"}
	cri := dial(t, r.Node("").Socket())
	for _, c := range []struct {
		name   string
		change func(*token.Token)
		key    token.Key
		says   string
	}{
		{"expired", func(tok *token.Token) {
			tok.NotBefore, tok.Expiry = tok.NotBefore.Add(-time.Hour), tok.Expiry.Add(-time.Hour)
		}, key, "expired"},
		{"of a webhook whose clock is ahead", func(tok *token.Token) {
			tok.NotBefore, tok.Expiry = tok.NotBefore.Add(time.Hour), tok.Expiry.Add(time.Hour)
		}, key, "not valid for another"},
		{"for another pod", func(tok *token.Token) { tok.Pod.UID = "11111111-2222-3333-4444-555555555555" }, key, "pod"},
		{"for another pod's name", func(tok *token.Token) { tok.Pod.Name = "another" }, key, "pod"},
		{"for another container", func(tok *token.Token) { tok.Container = "sidecar" }, key, "container"},
		{"for another node", func(tok *token.Token) { tok.Node = "n9" }, key, "node"},
		{"for another command", func(tok *token.Token) { tok.Command = token.Digest([]string{"/reporter", "hold"}, false) }, key, "command"},
		{"for a terminal", func(tok *token.Token) { tok.Command = token.Digest(command, true) }, key, "command"},
		{"signed by a key that the node does not know", func(*token.Token) {}, stranger, "not among this node's keys"},
	} {
		t.Run("BRG-4 a token "+c.name+" is refused by the wrapper and recorded", func(t *testing.T) {
			tok := bridge.NewToken(shared.pod, command...)
			c.change(&tok)
			refused(t, r, cri, shared.pod, c.says, append([]string{sign(t, c.key, tok)}, command...))
		})
	}
	t.Run("BRG-4 a token that was changed is refused by the wrapper and recorded", func(t *testing.T) {
		text := []byte(sign(t, key, bridge.NewToken(shared.pod, command...)))
		at := len(text) - 40
		text[at] = map[bool]byte{true: 'A', false: 'B'}[text[at] == 'B']
		refused(t, r, cri, shared.pod, "not signed as it is", append([]string{string(text)}, command...))
	})
	t.Run("BRG-4 a token at the second place is refused by the wrapper", func(t *testing.T) {
		refused(t, r, cri, shared.pod, "", append(slices.Clone(command), sign(t, key, bridge.NewToken(shared.pod, command...))))
	})
	t.Run("BRG-2 a good token works once", func(t *testing.T) {
		tok := bridge.NewToken(shared.pod, command...)
		full := append([]string{sign(t, key, tok)}, command...)
		got, err := cri.Run(t.Context(), bridge.ContainerID(shared.pod, ""), full...)
		if err != nil {
			t.Fatal(err)
		}
		if id := marked(t, parsed(t, string(got.Stdout))); id != tok.Session.String() {
			t.Errorf("session %s, want %s", id, tok.Session)
		}
		refused(t, r, cri, shared.pod, "used", full)
	})
}

// refused runs the command directly, and expects that the runtime's error and the journal say why it was refused.
func refused(t *testing.T, r *bridge.Rig, cri *bridge.CRI, pod *corev1.Pod, says string, command []string) {
	t.Helper()
	before := refusals(t, r)
	got, err := cri.Run(t.Context(), bridge.ContainerID(pod, ""), command...)
	if err == nil {
		t.Fatalf("it ran: %q, %q", got.Stdout, got.Stderr)
	}
	if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), token.Prefix) {
		t.Errorf("the runtime says %v, want %q in it and no token", err, says)
	}
	oneMoreRefusal(t, r, before)
}

func sign(t *testing.T, key token.Key, tok token.Token) string {
	t.Helper()
	text, err := key.Sign(tok)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestForgeryAtTheWebhook(t *testing.T) {
	r := rigOf(t)
	mallory := person(t, r, "mallory", bridge.Operators)
	good := sign(t, r.Key(), bridge.NewToken(shared.pod, "/reporter"))
	for name, command := range map[string][]string{
		"a token of its own first":         {good, "/reporter"},
		"a token of its own second":        {"/reporter", good},
		"something like a token in a text": {"/reporter", "print", "x " + token.Prefix + "1:AAAA"},
	} {
		t.Run("BRG-4 a command with "+name+" is refused by the webhook", func(t *testing.T) {
			got, err := mallory.Kubectl(t.Context(), append([]string{"exec", shared.pod.Name, "--"}, command...)...)
			if err != nil || got.Code == 0 || !strings.Contains(got.Stderr, "denied the request") {
				t.Errorf("kubectl exec = %+v, %v, want that the webhook refuses it", got, err)
			}
		})
	}
	t.Run("BRG-4 a token from the audit log is refused through nodes/proxy, as it is used", func(t *testing.T) {
		s := open(t, r, person(t, r, "victim"), 1, []string{shared.pod.Name}, "hold")
		events, err := r.AwaitAudit(t.Context(), func(e *auditv1.Event) bool {
			return e.User.Username == "victim" && len(bridge.Leaked([]auditv1.Event{*e})) > 0
		})
		if err != nil {
			t.Fatal(err)
		}
		stolen := bridge.Leaked(events)[0]
		before := refusals(t, r)
		status, said := runByNode(t, r, mallory, shared.pod, stolen[0], "/reporter", "hold")
		if status == http.StatusOK || !strings.Contains(said, "used") {
			t.Errorf("a replay: %d, %q, want that it was used", status, said)
		}
		oneMoreRefusal(t, r, before)
		if err := s.End(); err != nil {
			t.Error(err)
		}
	})
	t.Run("BRG-5 a command through nodes/proxy without a token runs unmarked", func(t *testing.T) {
		status, said := runByNode(t, r, mallory, shared.pod, "/reporter")
		if status != http.StatusOK {
			t.Fatalf("%d: %s", status, said)
		}
		plain(t, parsed(t, said))
	})
}

// runByNode has the kubelet run a command, and returns the status and the answer.
func runByNode(t *testing.T, r *bridge.Rig, user *kubernetes.User, pod *corev1.Pod, command ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), execPatience)
	defer cancel()
	status, said, err := r.RunByNode(ctx, user, pod, command...)
	if err != nil {
		t.Fatal(err)
	}
	return status, said
}
