package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// publish adds to the ConfigMap what it lacks of the keys.
func (k *cluster) publish(ctx context.Context, keys token.Keys) error {
	m, has, err := k.public(ctx)
	if err != nil {
		return err
	}
	all := merged(has, keys)
	if len(all) == len(has) {
		return nil
	}
	return k.savePublic(ctx, m, all)
}

// install makes what is not there. Nodes learn of a key before the webhook does.
func (k *cluster) install(ctx context.Context, out io.Writer) error {
	secret, keys, err := k.private(ctx)
	if err != nil {
		return err
	}
	made := len(keys) == 0
	if made {
		keys = []Private{{Key: token.NewKey()}}
	}
	if err := k.publish(ctx, public(keys)); err != nil {
		return err
	}
	if made {
		if err := k.savePrivate(ctx, secret, keys); err != nil {
			return err
		}
	}
	what := map[bool]string{true: "new", false: "there already"}[made]
	_, err = fmt.Fprintf(out, "key %s: %s, in secret %s and config map %s of %s\n", keys[0].Public().ID(), what, k.secret, k.configMap, k.namespace)
	return err
}

// rotate adds a key.
func (k *cluster) rotate(ctx context.Context, out io.Writer, from time.Time) error {
	secret, keys, err := k.installed(ctx)
	if err != nil {
		return err
	}
	if keys, err = rotated(keys, from); err != nil {
		return err
	}
	if err := k.publish(ctx, public(keys)); err != nil {
		return err
	}
	if err := k.savePrivate(ctx, secret, keys); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "key %s: new, signs %s; key %s still signs for nodes without it. When every node has it: lanyard-bridge keys retire\n",
		keys[0].Public().ID(), begins(from), keys[1].Public().ID())
	return err
}

// retire takes the old private key away.
func (k *cluster) retire(ctx context.Context, out io.Writer, now time.Time) error {
	secret, keys, err := k.installed(ctx)
	if err != nil {
		return err
	}
	if len(keys) < 2 {
		return errNothingToRetire
	}
	newest, old := keys[0].Public().ID(), keys[1].Public().ID()
	if now.Before(keys[0].From) && !k.force {
		return fmt.Errorf("key %s signs %s: the webhook has the old one alone until then", newest, begins(keys[0].From))
	}
	nodes, err := k.nodes(ctx, now)
	if err != nil {
		return err
	}
	var lacking []string
	for _, n := range nodes {
		if !slices.Contains(n.Readiness.Keys, newest.String()) {
			lacking = append(lacking, n.name)
		}
	}
	if len(lacking) > 0 && !k.force {
		return fmt.Errorf("%d of %d nodes do not have key %s yet: %s", len(lacking), len(nodes), newest, some(lacking))
	}
	if err := k.publish(ctx, public(keys)); err != nil {
		return err
	}
	m, has, err := k.public(ctx)
	if err != nil {
		return err
	}
	if err := markRetired(m, old, now); err != nil {
		return err
	}
	if err := k.savePublic(ctx, m, has); err != nil {
		return err
	}
	if err := k.savePrivate(ctx, secret, []Private{{Key: keys[0].Key}}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "key %s: retired; nodes take its last tokens for %v. Then: lanyard-bridge keys prune\n", old, pruneAfter)
	return err
}

// prune takes the public keys away whose private ones were retired.
func (k *cluster) prune(ctx context.Context, out io.Writer, now time.Time) error {
	_, keys, err := k.installed(ctx)
	if err != nil {
		return err
	}
	m, has, err := k.public(ctx)
	if err != nil {
		return err
	}
	retired, err := retiredOf(m)
	if err != nil {
		return err
	}
	var kept token.Keys
	var gone []string
	for _, key := range has {
		at, known := retired[key.ID().String()]
		due := known && !now.Before(at.Add(pruneAfter))
		if slices.Contains(public(keys), key) || !due && !(known && k.force) {
			kept = append(kept, key)
			continue
		}
		gone = append(gone, key.ID().String())
		delete(retired, key.ID().String())
	}
	if len(gone) == 0 {
		return errors.New("no key was retired long enough ago")
	}
	if err := setRetired(m, retired); err != nil {
		return err
	}
	if err := k.savePublic(ctx, m, kept); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "nodes forget: %s\n", strings.Join(gone, ", "))
	return err
}
