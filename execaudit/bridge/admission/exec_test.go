package admission_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

var refuse = admission.Policy{Unready: admission.ChoiceRefuse}

func TestSigned(t *testing.T) {
	t.Run("BRG-2 a token for the pod, container, node, user and command stands first", func(t *testing.T) {
		command, got := signed(t, alice, "sh", "-c", "id")
		if !slices.Equal(command[1:], []string{"sh", "-c", "id"}) {
			t.Fatalf("command %q", command)
		}
		want := token.Token{
			Session: session, Nonce: nonce, Container: "app", Node: "n1",
			Pod:       token.Pod{UID: "8b8b8b8b-0000-4000-8000-000000000001", Namespace: "shop", Name: "cart"},
			NotBefore: now.Truncate(time.Second), Expiry: now.Truncate(time.Second).Add(time.Minute),
			Command: token.Digest([]string{"sh", "-c", "id"}, false),
			Requester: newKey.Requester(session, token.User{
				Name: "alice", UID: "a-1", Groups: alice.Groups, Extra: map[string][]string{"scopes": {"x"}},
			}),
		}
		if got != want {
			t.Fatalf("token %+v, want %+v", got, want)
		}
	})
	t.Run("BRG-1 the annotations tell session, node and outcome", func(t *testing.T) {
		r := admission.Decide(input(t, exec(alice, "id"), known()), admission.Policy{}, signer).Response("u")
		want := map[string]string{"session": session.String(), "node": "n1", "outcome": "marked"}
		if !maps.Equal(r.AuditAnnotations, want) || !r.Allowed || r.UID != "u" || *r.PatchType != admissionv1.PatchTypeJSONPatch {
			t.Fatalf("Response = %+v, want annotations %v", r, want)
		}
		if strings.Contains(string(r.Patch), "alice") {
			t.Fatalf("patch %s names the user", r.Patch)
		}
	})
	t.Run("BRG-2 a node with the old key alone gets a token of the old key", func(t *testing.T) {
		k := known()
		k.Lease.Readiness.Keys = []string{oldKey.Public().ID().String()}
		d := admission.Decide(input(t, exec(alice, "id"), k), admission.Policy{}, signer)
		if _, err := (token.Keys{oldKey.Public()}).Verify(d.Patch[0].Value.(string), now, 0); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("BRG-2 a key that another replica signs with already is known, and makes no new token", func(t *testing.T) {
		early := admission.NewSigner(oldKey).Knowing(newKey)
		d := admission.Decide(input(t, exec(alice, "id"), known()), admission.Policy{}, early)
		if _, err := (token.Keys{oldKey.Public()}).Verify(d.Patch[0].Value.(string), now, 0); err != nil {
			t.Fatal(err)
		}
		command, _ := signed(t, alice, "id") // by the new key
		if d := admission.Decide(input(t, exec(alice, command...), known()), refuse, early); !d.Allowed || d.Patch != nil {
			t.Fatalf("second call: %+v", d)
		}
		if d := admission.Verify(input(t, exec(alice, command...), known()), refuse, early); !d.Allowed {
			t.Fatalf("validating: %+v", d)
		}
	})
	t.Run("BRG-2 a mirror pod's token has the UID that its node knows", func(t *testing.T) {
		d := admission.Decide(input(t, exec(alice, "id"), known(func(p *corev1.Pod) {
			p.Annotations = map[string]string{"kubernetes.io/config.mirror": "0123456789abcdef"}
		})), admission.Policy{}, signer)
		got, _, err := token.Parse(d.Patch[0].Value.(string))
		if err != nil || got.Pod.UID != "0123456789abcdef" || d.Target.PodUID != got.Pod.UID {
			t.Fatalf("token %+v, %v", got, err)
		}
	})
	t.Run("BRG-14 who opted out gets a token that asks for no mark", func(t *testing.T) {
		namespace := known()
		namespace.NamespaceOptedOut = true
		pod := known(func(p *corev1.Pod) { p.Annotations = map[string]string{bridge.MarkAnnotation: "off"} })
		for want, k := range map[string]admission.Known{
			"marked: in the environment alone, since the namespace opted out": namespace, "marked: in the environment alone, since the pod opted out": pod,
		} {
			d := admission.Decide(input(t, exec(alice, "id"), k), refuse, signer)
			got, _, err := token.Parse(d.Patch[0].Value.(string))
			if outcome := d.Response("u").AuditAnnotations["outcome"]; err != nil || !got.Unmarked || outcome != want {
				t.Fatalf("outcome %q, token %+v, %v; want %q", outcome, got, err, want)
			}
			again := admission.Decide(input(t, exec(alice, patched(t, d, []string{"id"})...), k), refuse, signer)
			if !again.Allowed || again.Patch != nil || !maps.Equal(again.Response("u").AuditAnnotations, d.Response("u").AuditAnnotations) {
				t.Fatalf("second call: %+v, want the first one's annotations", again)
			}
		}
	})
	t.Run("BRG-2 the policy's lifetime bounds the token", func(t *testing.T) {
		for lifetime, want := range map[time.Duration]time.Duration{0: time.Minute, 5 * time.Second: 5 * time.Second, time.Hour: token.MaxLifetime} {
			d := admission.Decide(input(t, exec(alice, "id"), known()), admission.Policy{Lifetime: lifetime}, signer)
			got, _, err := token.Parse(d.Patch[0].Value.(string))
			if err != nil || got.Expiry.Sub(got.NotBefore) != want {
				t.Fatalf("lifetime %v: %v, %v; want %v", lifetime, got.Expiry.Sub(got.NotBefore), err, want)
			}
		}
	})
}

func TestContainer(t *testing.T) {
	one := func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] }
	for _, test := range []struct {
		name, container string
		change          func(*corev1.Pod)
		want            string // empty is unmarked
	}{
		{"a named container", "proxy", nil, "proxy"},
		{"a named init container", "sidecar", nil, "sidecar"},
		{"a named ephemeral container", "debugger", nil, "debugger"},
		{"the only container", "", one, "app"},
		{"no name in a pod of two", "", nil, ""},
		{"no name, and an annotation that is for clients", "", func(p *corev1.Pod) {
			p.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "app"}
		}, ""},
		{"a name that the pod does not have", "nginx", nil, ""},
	} {
		t.Run("BRG-2 "+test.name, func(t *testing.T) {
			k := known()
			if test.change != nil {
				k = known(test.change)
			}
			d := admission.Decide(input(t, connect("exec", alice, execOptions(test.container, "id")), k), refuse, signer)
			if test.want == "" {
				if !d.Allowed || d.Patch != nil || d.Reason != "there is no such container" {
					t.Fatalf("Decide = %+v, want it left to the API server", d)
				}
				return
			}
			if got, _, err := token.Parse(d.Patch[0].Value.(string)); err != nil || got.Container != test.want || d.Target.Container != test.want {
				t.Fatalf("token for %q, %v; want %q", got.Container, err, test.want)
			}
		})
	}
}

func TestUnready(t *testing.T) {
	for _, test := range []struct {
		name    string
		known   admission.Known
		command []string
		reason  string
		passing bool
	}{
		{"BRG-5 no lease", admission.Known{Pod: known().Pod}, []string{"id"}, "the node has no lease", false},
		{"BRG-11 a pod older than the wrapper", known(func(p *corev1.Pod) {
			p.Status.StartTime = &metav1.Time{Time: now.Add(-3 * time.Hour)}
		}), []string{"id"}, "the container is older than the wrapper", false},
		{"BRG-13 a container that does not run", known(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = nil
		}), []string{"id"}, "the container is older than the wrapper", false},
		{"BRG-13 another runtime handler", func() admission.Known {
			k := known()
			k.Handler = "kata"
			return k
		}(), []string{"id"}, "the wrapper is not active for the runtime handler", false},
		{"BRG-6 a pod that could not be looked up", admission.Known{Problem: "the pod could not be looked up"}, []string{"id"}, "the pod could not be looked up", false},
		{"BRG-6 a lease that could not be looked up", func() admission.Known {
			k := known()
			k.Problem = "the lease could not be looked up"
			return k
		}(), []string{"id"}, "the lease could not be looked up", false},
		{"BRG-5 a pod that is not there", admission.Known{}, []string{"id"}, "there is no such pod", true},
		{"BRG-5 a pod without a node", known(func(p *corev1.Pod) { p.Spec.NodeName = "" }), []string{"id"}, "the pod has no node", true},
		{"BRG-5 no command", known(), nil, "there is no command", true},
	} {
		for _, policy := range []admission.Policy{{}, refuse} {
			t.Run(test.name+" "+string(policy.Unready), func(t *testing.T) {
				d := admission.Decide(input(t, exec(alice, test.command...), test.known), policy, signer)
				wantAllowed := test.passing || policy != refuse
				if d.Allowed != wantAllowed || d.Reason != test.reason || d.Patch != nil || !d.Record || d.Session != session || d.Node != "" {
					t.Fatalf("Decide = %+v, want allowed %v, %q", d, wantAllowed, test.reason)
				}
				want := bridge.OutcomeUnmarked
				if !wantAllowed {
					want = bridge.OutcomeRefused
				}
				if d.Outcome != want || !wantAllowed && !strings.Contains(d.Message, test.reason) {
					t.Fatalf("Decide = %+v, want %s", d, want)
				}
				v := admission.Verify(input(t, exec(alice, test.command...), test.known), policy, signer)
				if v.Allowed != wantAllowed || v.Record != !wantAllowed || v.Allowed && v.Session != (bridge.SessionID{}) {
					t.Fatalf("Verify = %+v, want allowed %v", v, wantAllowed)
				}
			})
		}
	}
	t.Run("BRG-6 a webhook without a key", func(t *testing.T) {
		d := admission.Decide(input(t, exec(alice, "id"), known()), admission.Policy{}, admission.Signer{})
		if d.Reason != "the node has no key of the webhook" || d.Patch != nil {
			t.Fatalf("Decide = %+v", d)
		}
	})
}

func TestUnfaithful(t *testing.T) {
	for name, command := range map[string][]string{
		"a NUL":                            {"sh", "a\x00b"},
		"bytes that are not UTF-8":         {"sh", "a\xffb"},
		"a replacement character":          {"\uFFFD"},
		"a NUL in the last of 200 element": append(slices.Repeat([]string{"x"}, 199), "\x00"),
	} {
		t.Run("BRG-6 "+name+" is refused where it would be signed", func(t *testing.T) {
			d := admission.Decide(input(t, exec(alice, command...), known()), admission.Policy{}, signer)
			if d.Allowed || d.Patch != nil || !strings.Contains(d.Message, "NUL or is not valid UTF-8") {
				t.Fatalf("Decide = %+v, want a refusal", d)
			}
			d = admission.Decide(input(t, exec(alice, command...), admission.Known{Pod: known().Pod}), admission.Policy{}, signer)
			if !d.Allowed || d.Outcome != bridge.OutcomeUnmarked {
				t.Fatalf("Decide on a node without the wrapper = %+v, want it to go on", d)
			}
		})
	}
}

func TestForged(t *testing.T) {
	_, other := signed(t, alice, "id")
	foreign, err := token.NewKey().Sign(other)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := signed(t, alice, "id")
	expired := other
	expired.NotBefore, expired.Expiry = now.Add(-time.Hour), now.Add(-time.Hour+time.Minute)
	stale, err := newKey.Sign(expired)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		user    string
		command []string
		known   admission.Known
		reason  string
	}{
		{"something like a token", "alice", []string{"lanyard-exec:1:x", "id"}, known(), "element 1 holds something like a token"},
		{"something like a token within an element", "alice", []string{"sh", "-c", "echo lanyard-exec:"}, known(), "element 3 holds something like a token"},
		{"a token of another version", "alice", []string{"lanyard-exec:2:x", "id"}, known(), "element 1 holds something like a token"},
		{"a token of a foreign key", "alice", []string{foreign, "id"}, known(), "element 1 holds something like a token"},
		{"an expired token", "alice", []string{stale, "id"}, known(), "element 1 holds something like a token"},
		{"another user's token", "bob", own, known(), "element 1 is a token of another user"},
		{"another pod's token", "alice", own, known(func(p *corev1.Pod) { p.UID = "8b8b8b8b-0000-4000-8000-000000000002" }), "element 1 is a token for another container"},
		{"another node's token", "alice", own, known(func(p *corev1.Pod) { p.Spec.NodeName = "n2" }), "element 1 is a token for another container"},
		{"two tokens", "alice", append([]string{own[0]}, own...), known(), "elements 1 and 2 hold something like a token"},
		{"a token and something like one", "alice", append(slices.Clone(own), "lanyard-exec:"), known(), "elements 1 and 3 hold something like a token"},
		{"something like a token for a pod that is not there", "alice", []string{"lanyard-exec:"}, admission.Known{}, "element 1 holds something like a token"},
		{"a token for a pod that is not there", "alice", own, admission.Known{}, "element 1 is a token for another container"},
	} {
		user := alice
		if test.user == "bob" {
			user = bob
		}
		for side, decide := range map[string]func(admission.Input, admission.Policy, admission.Signer) admission.Decision{
			"mutating": admission.Decide, "validating": admission.Verify,
		} {
			t.Run("BRG-4 "+test.name+" is refused, "+side, func(t *testing.T) {
				d := decide(input(t, exec(user, test.command...), test.known), admission.Policy{}, signer)
				if d.Allowed || d.Outcome != bridge.OutcomeRefused || d.Reason != test.reason || !d.Record || d.Patch != nil || d.Node != "" {
					t.Fatalf("%+v, want a recorded refusal: %s", d, test.reason)
				}
			})
		}
	}
	t.Run("BRG-4 another container's token is refused", func(t *testing.T) {
		d := admission.Decide(input(t, connect("exec", alice, execOptions("proxy", own...)), known()), admission.Policy{}, signer)
		if d.Allowed || d.Reason != "element 1 is a token for another container" {
			t.Fatalf("%+v", d)
		}
	})
}

func TestAgain(t *testing.T) {
	first := admission.Decide(input(t, exec(alice, "sh", "-c", "id"), known()), admission.Policy{}, signer)
	command, made := signed(t, alice, "sh", "-c", "id")
	second := func(command []string) admission.Decision {
		in := input(t, exec(alice, command...), known())
		in.Session, in.Nonce = bridge.SessionID{9}, [16]byte{9}
		return admission.Decide(in, admission.Policy{}, signer)
	}
	t.Run("BRG-4 our own token is left, with the same annotations and no second record", func(t *testing.T) {
		d := second(command)
		if !d.Allowed || d.Patch != nil || d.Record || !maps.Equal(d.Response("u").AuditAnnotations, first.Response("u").AuditAnnotations) {
			t.Fatalf("%+v, want %+v without a patch", d, first)
		}
	})
	for name, change := range map[string]func([]string) []string{
		"put something before":        func(c []string) []string { return append([]string{"env", "A=b"}, c...) },
		"put something behind":        func(c []string) []string { return append(c, "--more") },
		"put something after it":      func(c []string) []string { return slices.Insert(c, 1, "env", "A=b") },
		"changed an element":          func(c []string) []string { c[3] = "whoami"; return c },
		"left nothing but the token":  func(c []string) []string { return c[:1] },
		"moved the token to the end":  func(c []string) []string { return append(c[1:], c[0]) },
		"put 200 elements before it":  func(c []string) []string { return append(slices.Repeat([]string{"x"}, 200), c...) },
		"wrapped it and added a flag": func(c []string) []string { return append(append([]string{"env"}, c...), "-v") },
	} {
		t.Run("BRG-4 another webhook "+name+": the same session is signed anew", func(t *testing.T) {
			changed := change(slices.Clone(command))
			d := second(changed)
			if !d.Allowed || !maps.Equal(d.Response("u").AuditAnnotations, first.Response("u").AuditAnnotations) {
				t.Fatalf("%+v, want the annotations of %+v", d, first)
			}
			final := patched(t, d, changed)
			got, err := signer.Public().Verify(final[0], now, 0)
			want := made
			want.Command = token.Digest(final[1:], false)
			if err != nil || got != want || !slices.Equal(d.Command, final[1:]) {
				t.Fatalf("token %+v, %v; want %+v", got, err, want)
			}
			if slices.ContainsFunc(final[1:], token.Like) {
				t.Fatalf("command %q: a token is left", final)
			}
			v := admission.Verify(input(t, exec(alice, final...), known()), refuse, signer)
			if !v.Allowed || v.Record || v.Response("u").AuditAnnotations != nil {
				t.Fatalf("Verify = %+v, want it allowed and nothing said", v)
			}
		})
	}
	t.Run("BRG-6 another webhook added a NUL: refused", func(t *testing.T) {
		if d := second(append(slices.Clone(command), "\x00")); d.Allowed {
			t.Fatalf("%+v, want a refusal", d)
		}
	})
}

func TestVerify(t *testing.T) {
	command, made := signed(t, alice, "sh", "-c", "id")
	verify := func(k admission.Known, policy admission.Policy, command ...string) admission.Decision {
		return admission.Verify(input(t, exec(alice, command...), k), policy, signer)
	}
	t.Run("BRG-4 the command as it was signed goes on", func(t *testing.T) {
		if d := verify(known(), refuse, command...); !d.Allowed || d.Record || d.Response("u").AuditAnnotations != nil {
			t.Fatalf("%+v", d)
		}
	})
	t.Run("BRG-6 a pod that cannot be looked up now: the token decides", func(t *testing.T) {
		if d := verify(admission.Known{Problem: "timeout"}, refuse, command...); !d.Allowed {
			t.Fatalf("%+v", d)
		}
	})
	for name, test := range map[string]struct {
		command []string
		says    string
	}{
		"something before the token": {append([]string{"env", "A=b"}, command...), "put 2 element(s) before the session's token"},
		"another element":            {append(slices.Clone(command), "-v"), "changed the command after it was signed"},
	} {
		t.Run("BRG-4 "+name+" is refused, and the message names the fix", func(t *testing.T) {
			d := verify(known(), admission.Policy{}, test.command...)
			if d.Allowed || !d.Record || d.Session != made.Session || !strings.Contains(d.Message, test.says) ||
				!strings.Contains(d.Message, "must sort after") || !strings.Contains(d.Message, "reinvocationPolicy IfNeeded") {
				t.Fatalf("%+v, want a refusal that says %q", d, test.says)
			}
		})
	}
	t.Run("BRG-5 the mutating webhook was not asked", func(t *testing.T) {
		if d := verify(known(), admission.Policy{}, "id"); !d.Allowed || d.Record || d.Outcome != bridge.OutcomeUnmarked || d.Reason != "the mutating webhook was not asked" {
			t.Fatalf("%+v, want unmarked", d)
		}
		if d := verify(known(), refuse, "id"); d.Allowed || !d.Record || d.Outcome != bridge.OutcomeRefused {
			t.Fatalf("%+v, want a refusal", d)
		}
	})
	t.Run("BRG-7 nothing else is looked at", func(t *testing.T) {
		for _, r := range []*admissionv1.AdmissionRequest{connect("attach", alice, corev1.PodAttachOptions{}), connect("portforward", alice, nil)} {
			if d := admission.Verify(input(t, r, admission.Known{}), refuse, signer); !d.Allowed || d.Record {
				t.Fatalf("%+v", d)
			}
		}
	})
}

func TestRead(t *testing.T) {
	t.Run("BRG-6 an object that cannot be decoded", func(t *testing.T) {
		r := exec(alice, "id")
		r.Object.Raw = []byte(`{"command":"id"}`)
		if _, err := admission.Read(r); !errors.Is(err, admission.ErrMalformed) {
			t.Fatalf("Read = %v, want ErrMalformed", err)
		}
	})
	t.Run("BRG-5 a request for something else goes on, and nothing is said of it", func(t *testing.T) {
		other := exec(alice, "id")
		other.Resource.Resource = "services"
		proxy := connect("proxy", alice, nil)
		create := exec(alice, "id")
		create.Operation = admissionv1.Create
		for _, r := range []*admissionv1.AdmissionRequest{other, proxy, create} {
			d := admission.Decide(input(t, r, admission.Known{}), refuse, signer)
			if !d.Allowed || d.Record || d.Response("u").AuditAnnotations != nil {
				t.Fatalf("%+v", d)
			}
		}
	})
}

func TestConnect(t *testing.T) {
	for source, r := range map[sessions.Source]*admissionv1.AdmissionRequest{
		sessions.SourceAttach:      connect("attach", alice, corev1.PodAttachOptions{Container: "app", TTY: true}),
		sessions.SourcePortForward: connect("portforward", alice, corev1.PodPortForwardOptions{Ports: []int32{80}}),
	} {
		t.Run("BRG-7 recorded and annotated: "+string(source), func(t *testing.T) {
			in := input(t, r, known())
			d := admission.Decide(in, refuse, signer)
			want := map[string]string{"session": session.String(), "outcome": "recorded"}
			if in.Request.Source != source || !d.Allowed || !d.Record || d.Patch != nil || !maps.Equal(d.Response("u").AuditAnnotations, want) {
				t.Fatalf("%+v, want %v", d, want)
			}
			if d.Target.PodUID != string(pod().UID) || d.Target.Node != "n1" {
				t.Fatalf("target %+v", d.Target)
			}
		})
	}
}
