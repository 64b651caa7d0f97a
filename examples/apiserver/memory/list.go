package memory

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// GetList implements storage.Interface. It returns everything that matches, by key ascending: a limit is not applied,
// which the API allows and which makes every list a consistent one. A revision of the past can only be asked for as
// "not older than".
func (s *Storage) GetList(_ context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	if err := s.notNewer(opts.ResourceVersion); err != nil {
		return err
	}
	if opts.Predicate.Continue != "" {
		return apierrors.NewResourceExpired("this server gives no continue tokens")
	}
	items, revision := s.table.list(selects(key, opts.Recursive))
	if err := s.exact(opts, revision); err != nil {
		return err
	}
	matched, err := filter(items, opts.Predicate)
	if err != nil {
		return err
	}
	if err := setItems(list, matched); err != nil {
		return err
	}
	return s.UpdateList(list, revision, "", nil)
}

// exact refuses a list "exactly at" another revision than the present one: only the present is kept.
func (s *Storage) exact(opts storage.ListOptions, revision uint64) error {
	asked, err := s.ParseResourceVersion(opts.ResourceVersion)
	if err != nil {
		return err
	}
	if opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact && asked != revision {
		return apierrors.NewResourceExpired(fmt.Sprintf("resource version %d is not kept, only the present one", asked))
	}
	return nil
}

// selects returns the test that a list or watch at key makes: the key itself, or all below it.
func selects(key string, recursive bool) func(string) bool {
	if !recursive {
		return func(k string) bool { return k == key }
	}
	if !strings.HasSuffix(key, "/") {
		key += "/"
	}
	return func(k string) bool { return strings.HasPrefix(k, key) }
}

func filter(items []item, p storage.SelectionPredicate) ([]runtime.Object, error) {
	matched := make([]runtime.Object, 0, len(items))
	for _, it := range items {
		ok, err := p.Matches(it.object)
		if err != nil {
			return nil, err
		}
		if ok {
			matched = append(matched, it.object.DeepCopyObject())
		}
	}
	return matched, nil
}

// setItems fills a list whose items are structs; an empty one gets an empty slice, because clients expect [], not null.
func setItems(list runtime.Object, objects []runtime.Object) error {
	ptr, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	items := reflect.ValueOf(ptr).Elem()
	items.Set(reflect.MakeSlice(items.Type(), len(objects), len(objects)))
	for i, object := range objects {
		items.Index(i).Set(reflect.ValueOf(object).Elem())
	}
	return nil
}
