package authorize_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

// anySpec draws questions from few values, so that equal ones and nearly equal ones are common.
func anySpec() *rapid.Generator[spec] {
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "a,b"})
	list := rapid.SliceOfN(text, 0, 3)
	return rapid.Custom(func(t *rapid.T) spec {
		q := spec{User: text.Draw(t, "user"), UID: text.Draw(t, "uid"), Groups: list.Draw(t, "groups")}
		for name, values := range rapid.MapOfN(text, list, 0, 2).Draw(t, "extra") {
			if q.Extra == nil {
				q.Extra = map[string]authorizationv1.ExtraValue{}
			}
			q.Extra[name] = values
		}
		if rapid.Bool().Draw(t, "resource") {
			q.ResourceAttributes = &authorizationv1.ResourceAttributes{Verb: text.Draw(t, "verb"), Name: text.Draw(t, "name")}
		} else {
			q.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: text.Draw(t, "verb"), Path: text.Draw(t, "path")}
		}
		return q
	})
}

// TestCacheAgreesWithAMap runs a Cache beside a plain map that is keyed by the whole question as JSON.
func TestCacheAgreesWithAMap(t *testing.T) {
	t.Run("KAZ-6 the key is the whole question", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			now := time.Unix(0, 0)
			asked := 0
			cache := authorize.NewCache(authorize.ReviewerFunc(func(_ context.Context, q spec) (status, error) {
				asked++
				return status{Allowed: q.UID == "a"}, nil
			}), authorize.CacheOptions{Now: func() time.Time { return now }})
			model, wantAsked := map[string]time.Time{}, 0
			for range rapid.IntRange(1, 30).Draw(t, "steps") {
				now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second)
				q := anySpec().Draw(t, "question")
				name, _ := json.Marshal(q)
				if until, found := model[string(name)]; !found || !now.Before(until) {
					ttl := authorize.DefaultDenyTTL
					if q.UID == "a" {
						ttl = authorize.DefaultAllowTTL
					}
					model[string(name)] = now.Add(ttl)
					wantAsked++
				}
				got, err := cache.Review(context.Background(), q)
				if err != nil || got.Allowed != (q.UID == "a") || asked != wantAsked {
					t.Fatalf("Review(%s) = %+v, %v after %d reviews, want %d", name, got, err, asked, wantAsked)
				}
			}
		})
	})
}

// TestEveryFieldCounts changes one field after the other, found by reflection, so that a field that a later version of
// the API adds cannot be forgotten.
func TestEveryFieldCounts(t *testing.T) {
	asked := 0
	cache := authorize.NewCache(authorize.ReviewerFunc(func(context.Context, spec) (status, error) {
		asked++
		return allow, nil
	}), authorize.CacheOptions{})
	base := spec{ResourceAttributes: &authorizationv1.ResourceAttributes{}, NonResourceAttributes: &authorizationv1.NonResourceAttributes{}}
	_, _ = cache.Review(t.Context(), base)
	for _, at := range []func(*spec) reflect.Value{
		func(q *spec) reflect.Value { return reflect.ValueOf(q).Elem() },
		func(q *spec) reflect.Value { return reflect.ValueOf(q.ResourceAttributes).Elem() },
		func(q *spec) reflect.Value { return reflect.ValueOf(q.NonResourceAttributes).Elem() },
	} {
		for i := range at(&base).NumField() {
			q := *base.DeepCopy()
			t.Run("KAZ-6 "+at(&q).Type().Field(i).Name, func(t *testing.T) {
				change(t, at(&q).Field(i))
				before := asked
				_, _ = cache.Review(t.Context(), q)
				if asked != before+1 {
					t.Errorf("a question that differs here was answered from memory")
				}
			})
		}
	}
}

func change(t *testing.T, v reflect.Value) {
	switch field := v.Addr().Interface().(type) {
	case *string:
		*field = "changed"
	case *[]string:
		*field = []string{"changed"}
	case *map[string]authorizationv1.ExtraValue:
		*field = map[string]authorizationv1.ExtraValue{"changed": nil}
	case **authorizationv1.ResourceAttributes:
		*field = nil
	case **authorizationv1.NonResourceAttributes:
		*field = nil
	case **authorizationv1.FieldSelectorAttributes:
		*field = &authorizationv1.FieldSelectorAttributes{RawSelector: "changed"}
	case **authorizationv1.LabelSelectorAttributes:
		*field = &authorizationv1.LabelSelectorAttributes{Requirements: []metav1.LabelSelectorRequirement{{Key: "changed"}}}
	default:
		t.Fatalf("no value to change a %v to", v.Type())
	}
}
