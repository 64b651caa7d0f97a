package credprovider_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
)

func TestSelectAnnotations(t *testing.T) {
	account := credprovider.ServiceAccount{Namespace: "ns", Name: "sa", UID: "u", Annotations: map[string]string{"r": "1", "o": "", "x": "secret"}}
	t.Run("CRP-6 only the configured keys, empty values too", func(t *testing.T) {
		got, err := credprovider.SelectAnnotations(account, &credprovider.TokenAttributes{
			RequiredServiceAccountAnnotationKeys: []string{"r"}, OptionalServiceAccountAnnotationKeys: []string{"o", "absent"},
		})
		if want := map[string]string{"r": "1", "o": ""}; !maps.Equal(got, want) || err != nil {
			t.Errorf("SelectAnnotations = %v, %v, want %v", got, err, want)
		}
	})
	t.Run("CRP-7 every missing key is named", func(t *testing.T) {
		_, err := credprovider.SelectAnnotations(account, &credprovider.TokenAttributes{RequiredServiceAccountAnnotationKeys: []string{"m2", "r", "m1"}})
		var missing *credprovider.MissingAnnotationsError
		if !errors.As(err, &missing) || !slices.Equal(missing.Keys, []string{"m2", "m1"}) || missing.Account != account.Ref() {
			t.Errorf("SelectAnnotations = %v, want the two missing keys", err)
		}
	})
	t.Run("CRP-7 an empty required annotation is present", func(t *testing.T) {
		got, err := credprovider.SelectAnnotations(account, &credprovider.TokenAttributes{RequiredServiceAccountAnnotationKeys: []string{"o"}})
		if len(got) != 1 || err != nil {
			t.Errorf("SelectAnnotations = %v, %v", got, err)
		}
	})
	t.Run("CRP-6 nothing configured, nothing sent", func(t *testing.T) {
		got, err := credprovider.SelectAnnotations(account, nil)
		other, otherErr := credprovider.SelectAnnotations(account, &credprovider.TokenAttributes{})
		if got != nil || other != nil || err != nil || otherErr != nil {
			t.Errorf("SelectAnnotations = %v, %v, %v, %v, want nothing", got, err, other, otherErr)
		}
	})
	t.Run("CRP-6 the result is a subset with the account's values", rapid.MakeCheck(func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		have := rapid.MapOf(key, rapid.String()).Draw(t, "have")
		optional := rapid.SliceOf(key).Draw(t, "optional")
		got, err := credprovider.SelectAnnotations(credprovider.ServiceAccount{Annotations: have}, &credprovider.TokenAttributes{OptionalServiceAccountAnnotationKeys: optional})
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range have {
			value, sent := got[k]
			if sent != slices.Contains(optional, k) || sent && value != v {
				t.Fatalf("SelectAnnotations(%v, %v) = %v", have, optional, got)
			}
		}
		if len(got) > len(have) {
			t.Fatalf("SelectAnnotations made keys up: %v", got)
		}
	}))
}
