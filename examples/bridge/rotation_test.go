package bridge_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// TestRotation replaces the webhook's key while people work.
func TestRotation(t *testing.T) {
	r := rigOf(t)
	alice := person(t, r, "alice")
	stop, faults := make(chan struct{}), make(chan error, 1)
	go func() {
		var errs []error
		for {
			select {
			case <-stop:
				faults <- errors.Join(errs...)
				return
			default:
			}
			if _, _, err := one(t.Context(), alice, shared.pod); err != nil {
				errs = append(errs, err)
			}
		}
	}()
	old := r.Key()
	keys := func(verb string) {
		if err := errors.Join(r.Keys(t.Context(), verb), r.PublishKeys(t.Context())); err != nil {
			t.Error(err)
		}
	}
	keys("rotate") // both are there, and the new one is preferred where a node has it
	awaitKey(t, r, r.Key(), true)
	awaitSigner(t, r, alice)
	keys("retire")
	awaitKey(t, r, old, false)
	close(stop)
	t.Run("BRG-2 keys rotate without a gap: every exec meanwhile is marked", func(t *testing.T) {
		if err := <-faults; err != nil {
			t.Error(err)
		}
	})
	t.Run("BRG-4 a token signed by a retired key is refused by the wrapper and recorded", func(t *testing.T) {
		command := []string{"/reporter"}
		full := append([]string{sign(t, old, bridge.NewToken(shared.pod, command...))}, command...)
		refused(t, r, dial(t, r.Node("").Socket()), shared.pod, "not among this node's keys", full)
	})
}

// awaitKey waits until the node's Lease has the key, or has it no more.
func awaitKey(t *testing.T, r *bridge.Rig, key token.Key, want bool) {
	t.Helper()
	await(t, "keys of the node", func() (bool, error) {
		lease, err := r.Client().CoordinationV1().Leases(bridge.Namespace).Get(t.Context(), readiness.LeaseName(r.Node("").Name), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		said, err := readiness.Parse(lease.Annotations)
		return slices.Contains(said.Keys, key.Public().ID().String()) == want, err
	})
}

// awaitSigner waits until the webhook signs by the newest key.
func awaitSigner(t *testing.T, r *bridge.Rig, user *kubernetes.User) {
	t.Helper()
	await(t, "tokens of the new key", func() (bool, error) {
		id, _, err := one(t.Context(), user, shared.pod)
		if err != nil {
			return false, err
		}
		files, err := filepath.Glob(filepath.Join(r.SpoolDir(), "*.json"))
		if err != nil {
			return false, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // swept meanwhile
			}
			if record, err := spool.ParseRecord(text); err == nil && record.Session.String() == id {
				return record.Key == r.Key().Public().ID().String(), nil
			}
		}
		return false, errors.New("the session has no record")
	})
}
