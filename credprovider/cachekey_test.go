package credprovider_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestBaseKey(t *testing.T) {
	for _, c := range []struct {
		keyType credprovider.CacheKeyType
		want    string
	}{{credprovider.KeyImage, "reg.io:5000/a/b"}, {credprovider.KeyRegistry, "reg.io:5000"}, {credprovider.KeyGlobal, "<global>"}} {
		t.Run("CRP-10 "+string(c.keyType), func(t *testing.T) {
			if got, err := credprovider.BaseKey(c.keyType, "reg.io:5000/a/b"); got != c.want || err != nil {
				t.Errorf("BaseKey = %q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("CRP-10 another type", func(t *testing.T) {
		if _, err := credprovider.BaseKey("ServiceAccount", "x"); !errors.Is(err, credprovider.ErrCacheKeyType) {
			t.Errorf("BaseKey = %v, want ErrCacheKeyType", err)
		}
	})
}

func TestAccountKey(t *testing.T) {
	account := credprovider.AccountRef{Namespace: "namespace", Name: "service-account", UID: "service-account-uid"}
	annotations := map[string]string{"domain.io/annotation-1": "value1"}
	const upstream = "\x00\tnamespace\x00\x0fservice-account\x00\x13service-account-uid\x00\x00\x00\x01\x00\x16domain.io/annotation-1\x00\x06value1"
	t.Run("CRP-12 upstream's bytes", func(t *testing.T) {
		got, err := credprovider.AccountKey(account, annotations, credprovider.CacheByServiceAccount, redact.New("token"))
		if got != upstream || err != nil {
			t.Errorf("AccountKey = %q, %v, want %q", got, err, upstream)
		}
	})
	t.Run("CRP-11 token and its hash, never the token", func(t *testing.T) {
		got, err := credprovider.AccountKey(account, annotations, credprovider.CacheByToken, redact.New("abc"))
		want := upstream + "\x00\x05token\x00\x47sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
		if got != want || err != nil {
			t.Errorf("AccountKey = %q, %v, want %q", got, err, want)
		}
	})
	t.Run("CRP-12 a 100 KiB annotation is an error that does not show it", func(t *testing.T) {
		value := strings.Repeat("v", 100<<10)
		_, err := credprovider.AccountKey(account, map[string]string{"a/b": value}, credprovider.CacheByServiceAccount, redact.Text{})
		if !errors.Is(err, credprovider.ErrKeyTooLong) || strings.Contains(err.Error(), "vvv") || !strings.Contains(err.Error(), `"a/b"`) {
			t.Errorf("AccountKey = %v, want ErrKeyTooLong naming the key", err)
		}
	})
	t.Run("CRP-10 the whole key in upstream's form", func(t *testing.T) {
		got, err := credprovider.CacheKey{Base: "reg.io", Account: ""}.Bytes()
		if string(got) != "\x00\x06reg.io\x00\x00" || err != nil {
			t.Errorf("Bytes = %q, %v", got, err)
		}
		if _, err := (credprovider.CacheKey{Base: strings.Repeat("i", 65536)}).Bytes(); !errors.Is(err, credprovider.ErrKeyTooLong) {
			t.Errorf("Bytes = %v, want ErrKeyTooLong", err)
		}
	})
}

func TestAccountKeyLaws(t *testing.T) {
	part := rapid.StringMatching(`[ab\x00\x01]{0,3}`)
	type subject struct {
		account     credprovider.AccountRef
		annotations map[string]string
	}
	draw := func(t *rapid.T, name string) subject {
		return subject{
			credprovider.AccountRef{Namespace: part.Draw(t, name+" ns"), Name: part.Draw(t, name+" name"), UID: part.Draw(t, name+" uid")},
			rapid.MapOfN(part, part, 0, 2).Draw(t, name+" annotations"),
		}
	}
	t.Run("CRP-12 keys are equal only when all parts are", rapid.MakeCheck(func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		keyA, _ := credprovider.AccountKey(a.account, a.annotations, credprovider.CacheByServiceAccount, redact.Text{})
		keyB, _ := credprovider.AccountKey(b.account, b.annotations, credprovider.CacheByServiceAccount, redact.Text{})
		same := a.account == b.account && len(a.annotations) == len(b.annotations)
		for k, v := range a.annotations {
			got, ok := b.annotations[k]
			same = same && ok && got == v
		}
		if (keyA == keyB) != same {
			t.Fatalf("AccountKey(%+v) = %q, AccountKey(%+v) = %q", a, keyA, b, keyB)
		}
	}))
}
