package memory

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// Storage is the storage.Interface of one resource. Objects that go in and come out are copies.
type Storage struct {
	storage.APIObjectVersioner
	table     *table
	newObject func() runtime.Object
	bookmarks time.Duration
}

var _ storage.Interface = (*Storage)(nil)

// Versioner implements storage.Interface.
func (s *Storage) Versioner() storage.Versioner { return s.APIObjectVersioner }

// Create implements storage.Interface.
func (s *Storage) Create(_ context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if v, err := s.ObjectResourceVersion(obj); err == nil && v != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	stored := obj.DeepCopyObject()
	if err := s.PrepareObjectForStorage(stored); err != nil {
		return err
	}
	ok, err := s.table.swap(key, 0, stored, ttl)
	if err != nil {
		return err
	}
	if !ok {
		return storage.NewKeyExistsError(key, 0)
	}
	return assign(out, stored)
}

// Get implements storage.Interface.
func (s *Storage) Get(_ context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	if err := s.notNewer(opts.ResourceVersion); err != nil {
		return err
	}
	it, ok := s.table.get(key)
	switch {
	case ok:
		return assign(out, it.object)
	case opts.IgnoreNotFound:
		return assign(out, s.newObject())
	default:
		return storage.NewKeyNotFoundError(key, 0)
	}
}

// Delete implements storage.Interface.
func (s *Storage) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions,
) error {
	for {
		it, ok := s.table.get(key)
		if !ok {
			return storage.NewKeyNotFoundError(key, 0)
		}
		object := it.object.DeepCopyObject()
		if err := preconditions.Check(key, object); err != nil {
			return err
		}
		if err := validate(ctx, object); err != nil {
			return err
		}
		done, err := s.table.swap(key, it.revision, nil, 0)
		if err != nil {
			return err
		}
		if done {
			return assign(out, it.object)
		}
	}
}

// GuaranteedUpdate implements storage.Interface. try runs without a lock held, as often as others are faster.
func (s *Storage) GuaranteedUpdate(_ context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, try storage.UpdateFunc, _ runtime.Object,
) error {
	for {
		it, ok := s.table.get(key)
		if !ok {
			if !ignoreNotFound {
				return storage.NewKeyNotFoundError(key, 0)
			}
			it.object = s.newObject()
		}
		if done, err := s.update(key, it, out, preconditions, try); done || err != nil {
			return err
		}
	}
}

func (s *Storage) update(key string, it item, out runtime.Object, preconditions *storage.Preconditions, try storage.UpdateFunc) (bool, error) {
	input := it.object.DeepCopyObject()
	if err := preconditions.Check(key, input); err != nil {
		return false, err
	}
	result, ttl, err := try(input, storage.ResponseMeta{TTL: int64(it.ttl), ResourceVersion: it.revision})
	if err != nil {
		return false, err
	}
	if ttl == nil {
		ttl = &it.ttl
	}
	stored := result.DeepCopyObject()
	if it.revision != 0 && s.same(stored, it) {
		return true, assign(out, it.object)
	}
	if err := s.PrepareObjectForStorage(stored); err != nil {
		return false, err
	}
	ok, err := s.table.swap(key, it.revision, stored, *ttl)
	if !ok || err != nil {
		return false, err
	}
	return true, assign(out, stored)
}

// same reports whether an update changes nothing; such an update makes no revision.
func (s *Storage) same(object runtime.Object, it item) bool {
	candidate := object.DeepCopyObject()
	return s.UpdateObject(candidate, it.revision) == nil && equality.Semantic.DeepEqual(candidate, it.object)
}

// Stats implements storage.Interface.
func (s *Storage) Stats(context.Context) (storage.Stats, error) {
	s.table.mu.RLock()
	defer s.table.mu.RUnlock()
	return storage.Stats{ObjectCount: int64(len(s.table.items))}, nil
}

// ReadinessCheck implements storage.Interface: memory is always ready.
func (s *Storage) ReadinessCheck() error { return nil }

// RequestWatchProgress implements storage.Interface; watches here are never behind, so there is nothing to do.
func (s *Storage) RequestWatchProgress(context.Context) error { return nil }

// GetCurrentResourceVersion implements storage.Interface.
func (s *Storage) GetCurrentResourceVersion(context.Context) (uint64, error) {
	return s.table.revision.Load(), nil
}

// EnableResourceSizeEstimation implements storage.Interface; sizes are not estimated.
func (s *Storage) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements storage.Interface.
func (s *Storage) CompactRevision() int64 {
	s.table.mu.RLock()
	defer s.table.mu.RUnlock()
	return int64(s.table.dropped)
}

// notNewer refuses a revision that no object has yet: a client asked another server.
func (s *Storage) notNewer(resourceVersion string) error {
	asked, err := s.ParseResourceVersion(resourceVersion)
	if err != nil {
		return err
	}
	if current := s.table.revision.Load(); asked > current {
		return storage.NewTooLargeResourceVersionError(asked, current, 1)
	}
	return nil
}

// assign copies an object into out, which may be nil.
func assign(out, object runtime.Object) error {
	if out == nil {
		return nil
	}
	to, from := reflect.ValueOf(out), reflect.ValueOf(object.DeepCopyObject())
	if to.Type() != from.Type() {
		return fmt.Errorf("cannot read a %v into a %v", from.Type(), to.Type())
	}
	to.Elem().Set(from.Elem())
	return nil
}
