package bridge

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// NewToken returns a token for a command in a pod's first container, good from now for a minute, which nobody has
// signed. What it says may be changed before.
func NewToken(pod *corev1.Pod, command ...string) token.Token {
	now := time.Now()
	t := token.Token{
		Session: bridge.NewSessionID(), Node: pod.Spec.NodeName, Container: pod.Spec.Containers[0].Name,
		Pod:       token.Pod{UID: token.PodUID(string(pod.UID), pod.Annotations), Namespace: pod.Namespace, Name: pod.Name},
		NotBefore: now.Add(-time.Second), Expiry: now.Add(time.Minute), Command: token.Digest(command, false),
	}
	_, _ = rand.Read(t.Nonce[:]) // which never fails
	return t
}

// Leaked returns the commands, token first, that an audit log holds at level Request and above: whoever may read such a
// log has the tokens, used as they are.
func Leaked(events []auditv1.Event) (commands [][]string) {
	for _, event := range events {
		for key, value := range event.Annotations {
			if !strings.HasPrefix(key, "patch.webhook.admission.k8s.io/") {
				continue
			}
			commands = append(commands, patched(value)...)
		}
	}
	return commands
}

// patched returns the texts of a patch's annotation that hold a token, each with those beside it.
func patched(annotation string) (commands [][]string) {
	var said struct {
		Patch []struct {
			Value json.RawMessage `json:"value"`
		} `json:"patch"`
	}
	if json.Unmarshal([]byte(annotation), &said) != nil {
		return nil
	}
	for _, p := range said.Patch {
		var one string
		var many []string
		if json.Unmarshal(p.Value, &one) == nil {
			many = []string{one}
		} else if json.Unmarshal(p.Value, &many) != nil {
			continue
		}
		if slices.ContainsFunc(many, token.Like) {
			commands = append(commands, many)
		}
	}
	return commands
}
