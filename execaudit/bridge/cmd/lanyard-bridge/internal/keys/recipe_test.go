package keys

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// lab is a cluster's keys in a store without an API server's rules but one: it keeps what it is given.
type lab struct {
	t *testing.T
	cluster
	now time.Time
}

func newLab(t *testing.T) *lab {
	t.Helper()
	return &lab{t: t, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), cluster: cluster{
		namespace: "lanyard-system", secret: "lanyard-bridge-signing", secretKey: "key", configMap: "lanyard-bridge-keys", mapKey: "keys",
		clients: fake.NewClientset(),
	}}
}

// must runs a step and returns what it printed, in which there is never a private key.
func (l *lab) must(step func(context.Context, *bytes.Buffer) error) string {
	l.t.Helper()
	var out bytes.Buffer
	if err := step(l.t.Context(), &out); err != nil {
		l.t.Fatal(err)
	}
	if strings.Contains(out.String(), "lanyard-exec-key:") {
		l.t.Fatalf("a private key is printed: %s", &out)
	}
	return out.String()
}

func (l *lab) doInstall(ctx context.Context, out *bytes.Buffer) error { return l.install(ctx, out) }
func (l *lab) doRotate(ctx context.Context, out *bytes.Buffer) error {
	return l.rotate(ctx, out, l.now.Add(DefaultAfter))
}

func (l *lab) doRetire(ctx context.Context, out *bytes.Buffer) error {
	return l.retire(ctx, out, l.now)
}

func (l *lab) doPrune(ctx context.Context, out *bytes.Buffer) error { return l.prune(ctx, out, l.now) }

func (l *lab) doList(ctx context.Context, out *bytes.Buffer) error { return l.list(ctx, out, l.now) }

// fails runs a step that is to fail.
func (l *lab) fails(step func(context.Context, *bytes.Buffer) error) error {
	l.t.Helper()
	err := step(l.t.Context(), new(bytes.Buffer))
	if err == nil {
		l.t.Fatal("no error")
	}
	return err
}

// has returns the IDs of the webhook's and of the nodes' keys.
func (l *lab) has() (private, nodes []token.KeyID) {
	l.t.Helper()
	_, keys, err := l.private(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	_, has, err := l.public(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return public(keys).IDs(), has.IDs()
}

// node says what a node has.
func (l *lab) node(name string, keys ...token.KeyID) {
	l.t.Helper()
	said := readiness.Readiness{}
	for _, id := range keys {
		said.Keys = append(said.Keys, id.String())
	}
	renewed, seconds := metav1.NewMicroTime(l.now), int32(3600)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: readiness.LeaseName(name), Annotations: said.Annotations()},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &renewed, LeaseDurationSeconds: &seconds},
	}
	leases := l.clients.CoordinationV1().Leases(l.namespace)
	if _, err := leases.Update(l.t.Context(), lease, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
		_, err = leases.Create(l.t.Context(), lease, metav1.CreateOptions{})
		if err != nil {
			l.t.Fatal(err)
		}
	} else if err != nil {
		l.t.Fatal(err)
	}
}

func TestRecipe(t *testing.T) {
	l := newLab(t)
	var first, second token.KeyID
	t.Run("BRG-9 install makes both, and once", func(t *testing.T) {
		if err := l.fails(l.doRotate); !strings.Contains(err.Error(), "keys install") {
			t.Fatalf("rotate before = %v", err)
		}
		l.must(l.doInstall)
		private, nodes := l.has()
		if len(private) != 1 || !slices.Equal(private, nodes) {
			t.Fatalf("%v, %v", private, nodes)
		}
		first = private[0]
		if out := l.must(l.doInstall); !strings.Contains(out, "there already") {
			t.Fatalf("again: %s", out)
		}
		if again, _ := l.has(); !slices.Equal(again, private) {
			t.Fatalf("%v after a second time, want %v", again, private)
		}
	})
	t.Run("BRG-2 rotate gives nodes and webhook the new key, and takes none", func(t *testing.T) {
		l.must(l.doRotate)
		private, nodes := l.has()
		second = private[0]
		if len(private) != 2 || private[1] != first || !slices.Equal(nodes, []token.KeyID{first, second}) {
			t.Fatalf("%v, %v", private, nodes)
		}
		if err := l.fails(l.doRotate); !errors.Is(err, errRotating) {
			t.Fatal(err)
		}
		if err := l.fails(l.doRetire); err.Error() != "key "+second.String()+" signs from 2026-11-22T12:05:00Z: the webhook has the old one alone until then" {
			t.Fatal(err)
		}
		if out := l.must(l.doList); !strings.Contains(out, second.String()+"  on 0 of 0 nodes  signs from 2026-11-22T12:05:00Z\n") {
			t.Fatalf("list: %s", out)
		}
	})
	t.Run("BRG-2 retire waits for every node", func(t *testing.T) {
		l.node("n1", first, second)
		l.node("n2", first)
		l.now = l.now.Add(DefaultAfter)
		if err := l.fails(l.doRetire); err.Error() != "1 of 2 nodes do not have key "+second.String()+" yet: n2" {
			t.Fatal(err)
		}
		if out := l.must(l.doList); !strings.Contains(out, second.String()+"  on 1 of 2 nodes  signs\n") ||
			!strings.Contains(out, first.String()+"  on 2 of 2 nodes  signs for nodes without the first\n") {
			t.Fatalf("list: %s", out)
		}
		l.node("n2", first, second)
		l.must(l.doRetire)
		private, nodes := l.has()
		if !slices.Equal(private, []token.KeyID{second}) || !slices.Equal(nodes, []token.KeyID{first, second}) {
			t.Fatalf("%v, %v", private, nodes)
		}
		if err := l.fails(l.doRetire); !errors.Is(err, errNothingToRetire) {
			t.Fatal(err)
		}
	})
	t.Run("BRG-2 prune waits until the last token is expired", func(t *testing.T) {
		l.fails(l.doPrune)
		if out := l.must(l.doList); !strings.Contains(out, first.String()+"  on 2 of 2 nodes  retired 2026-11-22T12:05:00Z\n") {
			t.Fatalf("list: %s", out)
		}
		l.now = l.now.Add(pruneAfter)
		l.must(l.doPrune)
		private, nodes := l.has()
		if !slices.Equal(private, nodes) || !slices.Equal(nodes, []token.KeyID{second}) {
			t.Fatalf("%v, %v", private, nodes)
		}
		l.fails(l.doPrune)
		m, _, err := l.public(t.Context())
		if err != nil || m.Annotations[retiredAnnotation] != "" {
			t.Fatalf("%v, %v", m.Annotations, err)
		}
	})
	t.Run("BRG-9 install adds what the config map lacks, and keeps what it has", func(t *testing.T) {
		other := token.NewKey().Public()
		m, _, err := l.public(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.savePublic(t.Context(), m, token.Keys{other}); err != nil {
			t.Fatal(err)
		}
		if out := l.must(l.doList); !strings.Contains(out, "lanyard-bridge keys install adds it") || !strings.Contains(out, "only in the config map") {
			t.Fatalf("list: %s", out)
		}
		l.must(l.doInstall)
		if _, nodes := l.has(); !slices.Equal(nodes, []token.KeyID{other.ID(), second}) {
			t.Fatalf("%v", nodes)
		}
		l.now = l.now.Add(time.Hour)
		l.force = true
		if err := l.fails(l.doPrune); err == nil {
			t.Fatal("a key that was never retired is pruned")
		}
		l.force = false
	})
	t.Run("BRG-2 a stolen key is retired and pruned at once", func(t *testing.T) {
		l.must(l.doRotate)
		private, _ := l.has()
		l.node("n1", second)
		l.force = true
		l.must(l.doRetire)
		l.must(l.doPrune)
		if _, nodes := l.has(); slices.Contains(nodes, second) || !slices.Contains(nodes, private[0]) {
			t.Fatalf("%v", nodes)
		}
	})
}

func TestUnreadable(t *testing.T) {
	t.Run("BRG-6 keys that cannot be read are not overwritten", func(t *testing.T) {
		l := newLab(t)
		l.must(l.doInstall)
		m, _, err := l.public(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m.Data["keys"] = "dirt"
		if _, err := l.clients.CoreV1().ConfigMaps(l.namespace).Update(t.Context(), m, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		l.fails(l.doInstall)
		l.fails(l.doRotate)
		secret, keys, err := l.private(t.Context())
		if err != nil || len(keys) != 1 {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		secret.Data["key"] = []byte("hush")
		if _, err := l.clients.CoreV1().Secrets(l.namespace).Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := l.fails(l.doInstall); strings.Contains(err.Error(), "hush") {
			t.Fatalf("the error tells the Secret: %v", err)
		}
	})
	t.Run("BRG-9 other data of both stays", func(t *testing.T) {
		l := newLab(t)
		meta := func(name string) metav1.ObjectMeta {
			return metav1.ObjectMeta{Namespace: l.namespace, Name: name, Labels: map[string]string{"a": "b"}}
		}
		_, err := l.clients.CoreV1().Secrets(l.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: meta(l.secret), Data: map[string][]byte{"other": []byte("x")}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.clients.CoreV1().ConfigMaps(l.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta(l.configMap), Data: map[string]string{"other": "x"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		l.must(l.doInstall)
		secret, keys, err := l.private(t.Context())
		if err != nil || len(keys) != 1 || string(secret.Data["other"]) != "x" || secret.Labels["a"] != "b" {
			t.Fatalf("%v, %d keys, %v", secret.Labels, len(keys), err)
		}
		if m, has, err := l.public(t.Context()); err != nil || len(has) != 1 || m.Data["other"] != "x" || m.Labels["a"] != "b" {
			t.Fatalf("%v, %v", m, err)
		}
	})
}
