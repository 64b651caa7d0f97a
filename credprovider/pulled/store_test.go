package pulled_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
)

const (
	image = "reg.io/team/app:1"
	ref   = "sha256:0123"
)

var (
	accountA = credprovider.AccountRef{UID: "1", Namespace: "ns", Name: "a"}
	accountB = credprovider.AccountRef{UID: "2", Namespace: "ns", Name: "b"}
	secret   = pulled.Secret{UID: "s1", Namespace: "ns", Name: "s", CredentialHash: "h1"}
)

func open(t *testing.T, dir string) *pulled.Store {
	t.Helper()
	s, err := pulled.Open(dir, pulled.Options{Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pull records a whole pull.
func pull(t *testing.T, s *pulled.Store, name string, access pulled.Access) {
	t.Helper()
	if err := s.Begin(name); err != nil {
		t.Fatal(err)
	}
	if err := s.Complete(name, ref, access); err != nil {
		t.Fatal(err)
	}
}

func mustPull(t *testing.T, s *pulled.Store, name string, holder pulled.Holder) bool {
	t.Helper()
	got, err := s.MustPull(name, ref, pulled.Policy{}, holder)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func as(account credprovider.AccountRef) pulled.Holder { return pulled.Holder{Account: &account} }

func TestAccounts(t *testing.T) {
	asA := pulled.From(credprovider.Credential{Account: &accountA})
	t.Run("CRP-20 another account pulls again, the same one does not", func(t *testing.T) {
		s := open(t, t.TempDir())
		pull(t, s, image, asA)
		if mustPull(t, s, image, as(accountA)) || !mustPull(t, s, image, as(accountB)) || !mustPull(t, s, image, pulled.Holder{}) {
			t.Error("access is not the account's alone")
		}
		pull(t, s, image, pulled.From(credprovider.Credential{Account: &accountB}))
		if mustPull(t, s, image, as(accountA)) || mustPull(t, s, image, as(accountB)) {
			t.Error("the second account's pull took the first's access, or gave none")
		}
	})
	t.Run("CRP-20 an account that was deleted and made again pulls again", func(t *testing.T) {
		s := open(t, t.TempDir())
		pull(t, s, image, asA)
		again := accountA
		again.UID = "another life"
		if !mustPull(t, s, image, as(again)) {
			t.Error("the new account has the old one's access")
		}
	})
	t.Run("CRP-30 a record names namespace, name and UID only, and outlives a restart", func(t *testing.T) {
		dir := t.TempDir()
		pull(t, open(t, dir), image, asA)
		if mustPull(t, open(t, dir), image, as(accountA)) {
			t.Error("the record did not survive")
		}
		files, _ := filepath.Glob(filepath.Join(dir, "image_manager", "pulled", "*"))
		data, err := os.ReadFile(files[0])
		const want = `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2026-01-02T03:04:05Z","imageRef":"sha256:0123",` +
			`"credentialMapping":{"reg.io/team/app":{"kubernetesServiceAccounts":[{"uid":"1","namespace":"ns","name":"a"}]}}}` + "\n"
		if err != nil || string(data) != want {
			t.Errorf("record = %s, want %s", data, want)
		}
	})
	t.Run("CRP-20 without a token everyone on the node has access", func(t *testing.T) {
		s := open(t, t.TempDir())
		pull(t, s, image, pulled.From(credprovider.Credential{}))
		if mustPull(t, s, image, pulled.Holder{}) || mustPull(t, s, image, as(accountA)) {
			t.Error("access is not everyone's")
		}
	})
	t.Run("CRP-20 access is to the name that was pulled, under any tag", func(t *testing.T) {
		s := open(t, t.TempDir())
		pull(t, s, image, asA)
		if mustPull(t, s, "reg.io/team/app:2", as(accountA)) || !mustPull(t, s, "reg.io/other/app:1", as(accountA)) {
			t.Error("access follows the content, or the tag")
		}
	})
	t.Run("CRP-20 an image that is not on the node is pulled", func(t *testing.T) {
		if got, err := open(t, t.TempDir()).MustPull(image, "", pulled.Policy{}, as(accountA)); !got || err != nil {
			t.Errorf("MustPull = %v, %v", got, err)
		}
	})
}

func TestSecrets(t *testing.T) {
	s := open(t, t.TempDir())
	pull(t, s, image, pulled.Access{Secrets: []pulled.Secret{secret}})
	renamed := pulled.Secret{UID: "s2", Namespace: "other", Name: "t", CredentialHash: "h1"}
	rotated := pulled.Secret{UID: "s1", Namespace: "ns", Name: "s", CredentialHash: "h2"}
	t.Run("CRP-20 the same credentials under another name", func(t *testing.T) {
		if mustPull(t, s, image, pulled.Holder{Secrets: []pulled.Secret{renamed}}) {
			t.Error("it pulls")
		}
		if record, _, _ := s.Record(ref); !slices.Contains(record.CredentialMapping["reg.io/team/app"].Secrets, renamed) {
			t.Error("it was not learned")
		}
	})
	t.Run("CRP-20 the same secret, rotated", func(t *testing.T) {
		if mustPull(t, s, image, pulled.Holder{Secrets: []pulled.Secret{rotated}}) {
			t.Error("it pulls")
		}
	})
	t.Run("CRP-20 another secret, and one without a hash", func(t *testing.T) {
		for _, other := range []pulled.Secret{{UID: "x", CredentialHash: "h9"}, {UID: "x"}} {
			if !mustPull(t, s, image, pulled.Holder{Secrets: []pulled.Secret{other}}) {
				t.Errorf("%+v does not pull", other)
			}
		}
	})
}

func TestPolicies(t *testing.T) {
	policy := func(name pulled.PolicyName, allowlist ...string) pulled.Policy {
		p, err := pulled.NewPolicy(name, allowlist)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	fresh := open(t, t.TempDir())
	recorded := open(t, t.TempDir())
	pull(t, recorded, image, pulled.From(credprovider.Credential{Account: &accountA}))
	for _, c := range []struct {
		name   string
		store  *pulled.Store
		policy pulled.Policy
		want   bool
	}{
		{"a preloaded image is anybody's", fresh, policy(""), false},
		{"a pulled image is not", recorded, policy(pulled.PolicyNeverVerifyPreloaded), true},
		{"NeverVerify", recorded, policy(pulled.PolicyNeverVerify), false},
		{"AlwaysVerify of a preloaded image", fresh, policy(pulled.PolicyAlwaysVerify), true},
		{"allowlisted by name", recorded, policy(pulled.PolicyNeverVerifyAllowlisted, "reg.io/team/app"), false},
		{"allowlisted by prefix", recorded, policy(pulled.PolicyNeverVerifyAllowlisted, "reg.io/*"), false},
		{"not allowlisted, preloaded", fresh, policy(pulled.PolicyNeverVerifyAllowlisted, "reg.io/team"), true},
	} {
		t.Run("CRP-20 "+c.name, func(t *testing.T) {
			if got, err := c.store.MustPull(image, ref, c.policy, as(accountB)); got != c.want || err != nil {
				t.Errorf("MustPull = %v, %v, want %v", got, err, c.want)
			}
		})
	}
	for _, entry := range []string{"", " a.io/x", "*", "/*", "a*/x", "a.io/x:1", "a.io*", "UPPER"} {
		t.Run("CRP-20 no allowlist entry: "+entry, func(t *testing.T) {
			if _, err := pulled.NewPolicy(pulled.PolicyNeverVerifyAllowlisted, []string{entry}); !errors.Is(err, pulled.ErrPolicy) {
				t.Errorf("NewPolicy(%q) = %v, want ErrPolicy", entry, err)
			}
		})
	}
	t.Run("CRP-20 no policy", func(t *testing.T) {
		if _, err := pulled.NewPolicy("Sometimes", nil); !errors.Is(err, pulled.ErrPolicy) {
			t.Errorf("NewPolicy = %v", err)
		}
	})
}

func TestCrash(t *testing.T) {
	t.Run("CRP-30 a crash between intent and record: the image is known to have been pulled", func(t *testing.T) {
		dir := t.TempDir()
		if err := open(t, dir).Begin(image); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		if !mustPull(t, s, image, as(accountA)) {
			t.Error("an image of an unfinished pull is taken for a preloaded one")
		}
		images, err := s.Recover(func(name string) string { return map[string]string{image: ref}[name] })
		if err != nil || !slices.Equal(images, []string{image}) {
			t.Errorf("Recover = %v, %v", images, err)
		}
		if !mustPull(t, s, image, as(accountA)) {
			t.Error("recovery gave access")
		}
		if _, found, _ := s.Record(ref); !found {
			t.Error("there is no record")
		}
		if images, err := s.Recover(func(string) string { return "" }); images != nil || err != nil {
			t.Errorf("a second Recover = %v, %v", images, err)
		}
	})
	t.Run("CRP-30 a crash before the image was there", func(t *testing.T) {
		dir := t.TempDir()
		if err := open(t, dir).Begin(image); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		if _, err := s.Recover(func(string) string { return "" }); err != nil {
			t.Fatal(err)
		}
		if mustPull(t, s, image, as(accountA)) {
			t.Error("the intent is still there")
		}
	})
	t.Run("CRP-30 what a crash left half-written is skipped", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		pull(t, s, image, pulled.From(credprovider.Credential{Account: &accountA}))
		files, _ := filepath.Glob(filepath.Join(dir, "image_manager", "pulled", "sha256-*"))
		if err := os.WriteFile(files[0]+".tmp", []byte(`{"kind":`), 0o600); err != nil {
			t.Fatal(err)
		}
		if mustPull(t, open(t, dir), image, as(accountA)) {
			t.Error("the record is not read")
		}
		if err := s.Prune([]string{ref}, time.Now().Add(time.Hour)); err != nil {
			t.Errorf("Prune = %v", err)
		}
	})
	t.Run("CRP-30 a corrupt record is no record, and is mended by the next pull", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		pull(t, s, image, pulled.From(credprovider.Credential{Account: &accountA}))
		files, _ := filepath.Glob(filepath.Join(dir, "image_manager", "pulled", "*"))
		for _, text := range []string{"", "{", `{"kind":"X"}`, strings.Repeat(" ", pulled.MaxRecordBytes+1), `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","imageRef":"another"}`} {
			if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := s.MustPull(image, ref, pulled.Policy{}, as(accountA)); !got || !errors.Is(err, pulled.ErrCorrupt) {
				t.Errorf("MustPull with %.20q = %v, %v", text, got, err)
			}
		}
		pull(t, s, image, pulled.From(credprovider.Credential{Account: &accountA}))
		if mustPull(t, s, image, as(accountA)) {
			t.Error("the pull did not mend it")
		}
	})
	t.Run("CRP-30 overlapping pulls: the intent lasts until the last has ended", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		intents := func() int {
			files, _ := filepath.Glob(filepath.Join(dir, "image_manager", "pulling", "*"))
			return len(files)
		}
		for range 2 {
			if err := s.Begin(image); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Abandon(image); err != nil || intents() != 1 {
			t.Errorf("after the first: %v, %d intents", err, intents())
		}
		if err := s.Complete(image, ref, pulled.Access{Everyone: true}); err != nil || intents() != 0 {
			t.Errorf("after the second: %v, %d intents", err, intents())
		}
	})
	t.Run("CRP-30 when the record cannot be written the intent stays", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		if err := s.Begin(image); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "image_manager", "pulled")); err != nil {
			t.Fatal(err)
		}
		if err := s.Complete(image, ref, pulled.Access{Everyone: true}); err == nil {
			t.Error("Complete = nil error")
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "image_manager", "pulling", "*")); len(files) != 1 {
			t.Errorf("%d intents, want 1", len(files))
		}
	})
	t.Run("CRP-20 records of images that are gone are removed", func(t *testing.T) {
		s := open(t, t.TempDir())
		pull(t, s, image, pulled.Access{Everyone: true})
		record, _, _ := s.Record(ref)
		for _, c := range []struct {
			inUse  []string
			before time.Time
			want   bool
		}{{[]string{ref}, record.LastUpdatedTime.Add(time.Hour), true}, {nil, record.LastUpdatedTime, true}, {nil, record.LastUpdatedTime.Add(time.Second), false}} {
			if err := s.Prune(c.inUse, c.before); err != nil {
				t.Fatal(err)
			}
			if _, found, _ := s.Record(ref); found != c.want {
				t.Errorf("Prune(%v, %v): found %v, want %v", c.inUse, c.before, found, c.want)
			}
		}
	})
}
