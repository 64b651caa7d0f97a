package pulled_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
)

func access() *rapid.Generator[pulled.Access] {
	name := rapid.SampledFrom([]string{"a", "b"})
	return rapid.Custom(func(t *rapid.T) pulled.Access {
		if rapid.IntRange(0, 9).Draw(t, "everyone") == 0 {
			return pulled.Access{Everyone: true}
		}
		var a pulled.Access
		for range rapid.IntRange(0, 3).Draw(t, "secrets") {
			one, _ := a.Merge(pulled.Access{Secrets: []pulled.Secret{{UID: name.Draw(t, "uid"), Namespace: name.Draw(t, "ns"), Name: name.Draw(t, "name"), CredentialHash: name.Draw(t, "hash")}}})
			a = one
		}
		for range rapid.IntRange(0, 3).Draw(t, "accounts") {
			one, _ := a.Merge(pulled.Access{Accounts: []credprovider.AccountRef{{UID: name.Draw(t, "uid"), Namespace: name.Draw(t, "ns"), Name: name.Draw(t, "name")}}})
			a = one
		}
		return a
	})
}

func TestMergeLaws(t *testing.T) {
	t.Run("CRP-20 merging gives both accesses, changes neither, and is idempotent", rapid.MakeCheck(func(t *rapid.T) {
		a, b := access().Draw(t, "a"), access().Draw(t, "b")
		before, _ := json.Marshal([]pulled.Access{a, b})
		merged, changed := a.Merge(b)
		if after, _ := json.Marshal([]pulled.Access{a, b}); string(before) != string(after) {
			t.Fatalf("Merge changed its arguments: %s, %s", before, after)
		}
		if changed == reflect.DeepEqual(a, merged) {
			t.Fatalf("Merge(%+v, %+v) = %+v, changed %v", a, b, merged, changed)
		}
		if again, changed := merged.Merge(b); changed || !reflect.DeepEqual(again, merged) {
			t.Fatalf("Merge again = %+v, %v", again, changed)
		}
		for _, account := range append(append([]credprovider.AccountRef(nil), a.Accounts...), b.Accounts...) {
			if more, changed := merged.Merge(pulled.Access{Accounts: []credprovider.AccountRef{account}}); changed {
				t.Fatalf("%+v lost %+v: %+v", merged, account, more)
			}
		}
	}))
	t.Run("CRP-20 nothing is the identity", rapid.MakeCheck(func(t *rapid.T) {
		a := access().Draw(t, "a")
		right, changed := a.Merge(pulled.Access{})
		left, _ := pulled.Access{}.Merge(a)
		if changed || !reflect.DeepEqual(right, a) || left.IsEmpty() != a.IsEmpty() || left.Everyone != a.Everyone || len(left.Accounts) != len(a.Accounts) || len(left.Secrets) != len(a.Secrets) {
			t.Fatalf("%+v became %+v and %+v", a, right, left)
		}
	}))
}

// FuzzDecodeRecord holds that a record that is read keeps its meaning when it is written and read again.
func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1alpha1","lastUpdatedTime":"2026-01-02T03:04:05Z","imageRef":"x","credentialMapping":{"a":{"nodePodsAccessible":true}}}`))
	f.Add([]byte(`{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","imageRef":"x","credentialMapping":{"a":{"kubernetesSecrets":[{"uid":"1"}]}}}`))
	f.Add([]byte(`{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if image, err := pulled.DecodeIntent(data); err == nil && image == "" {
			t.Fatal("an intent of no image")
		}
		record, err := pulled.DecodeRecord(data)
		if err != nil {
			return
		}
		encoded, err := json.Marshal(record)
		if err != nil {
			return // a time of a year that JSON has no form for
		}
		again, err := pulled.DecodeRecord(encoded)
		if err != nil || again.ImageRef != record.ImageRef || len(again.CredentialMapping) != len(record.CredentialMapping) {
			t.Fatalf("DecodeRecord(%s) = %+v, %v", encoded, again, err)
		}
	})
}
