package execcredential_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
)

// answers are the rows of the table; they seed the fuzz target too.
func answers(t testing.TB) []answerCase {
	authority := loginlab.NewAuthority(t)
	certificate, key := authority.Client(t, "u", time.Now().Add(-time.Hour), 2*time.Hour)
	_, otherKey := authority.Client(t, "o", time.Now(), time.Hour)
	head := `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"`
	status := func(fields string) string { return head + `,"status":{` + fields + `}}` }
	pair := func(certificate, key string) string {
		return loginlab.Answer(execcredential.V1, "", certificate, key, time.Time{})
	}
	var decode *execcredential.DecodeError
	var kind *execcredential.KindError
	var version *execcredential.VersionError
	return []answerCase{
		{"a token", status(`"token":"t"`), nil, nil},
		{"a certificate and key", pair(certificate, key), nil, nil},
		{"both", loginlab.Answer(execcredential.V1, "t", certificate, key, time.Time{}), nil, nil},
		{"unknown fields", `{"x":1,` + head[1:] + `,"status":{"token":"t","y":[]}}`, nil, nil},
		{"YAML", "apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\nstatus:\n  token: t\n", nil, nil},
		{"a missing kind", strings.Replace(status(`"token":"t"`), `"kind":"ExecCredential",`, "", 1), nil, nil},
		{"an expiry with offset and fraction", status(`"token":"t","expirationTimestamp":"2030-01-01T00:00:00.5+02:00"`), nil, nil},
		{"an expiry of null", status(`"token":"t","expirationTimestamp":null`), nil, nil},
		{"ECR-6 another kind", strings.Replace(status(`"token":"t"`), "ExecCredential", "Foo", 1), nil, &kind},
		{"ECR-6 another version of the group", strings.Replace(status(`"token":"t"`), "/v1", "/v1beta1", 1), nil, &version},
		{"ECR-6 another group", strings.Replace(status(`"token":"t"`), "client.authentication.k8s.io", "example.com", 1), nil, &version},
		{"ECR-6 no version", `{"kind":"ExecCredential","status":{"token":"t"}}`, nil, &version},
		{"ECR-6 nothing at all", "", nil, &version},
		{"ECR-6 no status", head + "}", execcredential.ErrNoStatus, nil},
		{"ECR-6 status null", head + `,"status":null}`, execcredential.ErrNoStatus, nil},
		{"ECR-6 an empty status", status(""), execcredential.ErrNoCredential, nil},
		{"ECR-6 a field name in other case counts as absent", status(`"Token":"t"`), execcredential.ErrNoCredential, nil},
		{"ECR-6 a certificate without key", pair(certificate, ""), execcredential.ErrHalfPair, nil},
		{"ECR-6 a key without certificate", pair("", key), execcredential.ErrHalfPair, nil},
		{"ECR-6 half a pair beside a token", loginlab.Answer(execcredential.V1, "t", certificate, "", time.Time{}), execcredential.ErrHalfPair, nil},
		{"ECR-6 a key of another certificate", pair(certificate, otherKey), execcredential.ErrKeyPair, nil},
		{"ECR-6 no PEM", pair("x", "y"), execcredential.ErrKeyPair, nil},
		{"ECR-6 a token with a line feed", status(`"token":"t\n"`), execcredential.ErrToken, nil},
		{"noise before the object", "hello " + status(`"token":"t"`), nil, &decode},
		{"noise after the object", status(`"token":"t"`) + " hello", nil, &decode},
		{"an expiry that is a date", status(`"token":"t","expirationTimestamp":"2030-01-01"`), nil, &decode},
		{"an empty expiry", status(`"token":"t","expirationTimestamp":""`), nil, &decode},
		{"a numeric expiry", status(`"token":"t","expirationTimestamp":1}`), nil, &decode},
		{"a token that is a number", status(`"token":1`), nil, &decode},
		{"a list", "- a\n- b\n", nil, &decode},
	}
}

type answerCase struct {
	name, output string
	sentinel     error
	typed        any
}

func TestParseAnswer(t *testing.T) {
	for _, c := range answers(t) {
		t.Run(c.name, func(t *testing.T) {
			credential, err := execcredential.ParseAnswer([]byte(c.output), execcredential.V1)
			switch {
			case c.sentinel != nil && !errors.Is(err, c.sentinel):
				t.Errorf("ParseAnswer = %v, want %v", err, c.sentinel)
			case c.typed != nil && !errors.As(err, c.typed):
				t.Errorf("ParseAnswer = %v (%T), want %T", err, err, c.typed)
			case c.sentinel == nil && c.typed == nil && (err != nil || credential.Token().IsEmpty() && credential.Certificate() == nil):
				t.Errorf("ParseAnswer = %v, %v, want a credential", credential, err)
			}
		})
	}
	t.Run("ECR-6 KEP-541 unit: version mismatch is detected", func(t *testing.T) {
		var version *execcredential.VersionError
		_, err := execcredential.ParseAnswer([]byte(loginlab.Answer(execcredential.V1Beta1, "t", "", "", time.Time{})), execcredential.V1)
		if !errors.As(err, &version) || version.Want != execcredential.V1 || version.Got != execcredential.V1Beta1 {
			t.Errorf("ParseAnswer = %v, want *VersionError with both versions", err)
		}
	})
}

func TestCredentialValidity(t *testing.T) {
	expires := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	parse := func(text string) *execcredential.Credential {
		credential, err := execcredential.ParseAnswer([]byte(text), execcredential.V1)
		if err != nil {
			t.Fatal(err)
		}
		return credential
	}
	t.Run("ECR-7 valid until the expiration timestamp, that moment included", func(t *testing.T) {
		credential := parse(loginlab.Answer(execcredential.V1, "t", "", "", expires))
		if !credential.ValidAt(expires) || credential.ValidAt(expires.Add(1)) {
			t.Errorf("ValidAt(expiry, expiry+1ns) = %v, %v, want true, false", credential.ValidAt(expires), credential.ValidAt(expires.Add(1)))
		}
	})
	t.Run("ECR-7 without a timestamp valid for ever", func(t *testing.T) {
		if !parse(loginlab.Answer(execcredential.V1, "t", "", "", time.Time{})).ValidAt(expires.AddDate(1000, 0, 0)) {
			t.Error("ValidAt in a thousand years = false, want true")
		}
	})
	t.Run("ECR-7 a certificate's NotAfter is not looked at", func(t *testing.T) {
		certificate, key := loginlab.NewAuthority(t).Client(t, "u", expires.Add(-time.Hour), time.Minute)
		if credential := parse(loginlab.Answer(execcredential.V1, "", certificate, key, expires)); !credential.ValidAt(expires) {
			t.Error("ValidAt after NotAfter = false, want true")
		}
	})
}

func TestCredentialIsNotPrinted(t *testing.T) {
	certificate, key := loginlab.NewAuthority(t).Client(t, "u", time.Now(), time.Hour)
	output := loginlab.Answer(execcredential.V1, sesame, certificate, key, time.Now())
	credential, err := execcredential.ParseAnswer([]byte(output), execcredential.V1)
	if err != nil {
		t.Fatal(err)
	}
	object, err := execcredential.Parse([]byte(output))
	if err != nil {
		t.Fatal(err)
	}
	type holder struct{ hidden any }
	keyLine := strings.Split(key, "\n")[1]
	check := func(t *testing.T, text string) {
		t.Helper()
		if strings.Contains(text, sesame) || strings.Contains(text, keyLine) {
			t.Errorf("output holds a secret: %s", text)
		}
	}
	for name, value := range map[string]any{
		"credential": credential, "value": *credential, "object": *object, "status": *object.Status,
		"hidden credential": holder{credential}, "hidden value": holder{*credential}, "hidden status": holder{*object.Status},
	} {
		t.Run("ECR-28 "+name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
				check(t, fmt.Sprintf(verb, value))
			}
			data, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			check(t, string(data))
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", value)
			check(t, log.String())
		})
	}
	t.Run("ECR-28 no error repeats the answer", func(t *testing.T) {
		for _, c := range answers(t) {
			for _, spoiled := range []string{
				strings.ReplaceAll(c.output, `"t"`, `"`+sesame+`"`),
				strings.ReplaceAll(c.output, `"token":"t"`, `"expirationTimestamp":"`+sesame+`"`),
				strings.ReplaceAll(c.output, `"token":"t"`, `"token":["`+sesame+`"]`),
				"status:\n  token: [" + sesame + "\n", "status: !!int " + sesame, sesame,
			} {
				if _, err := execcredential.ParseAnswer([]byte(spoiled), execcredential.V1); err != nil {
					check(t, fmt.Sprintf("%v %+v %#v", err, err, err))
				}
			}
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	for _, c := range answers(f) {
		f.Add([]byte(c.output))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		credential, err := execcredential.ParseAnswer(output, execcredential.V1)
		if (credential == nil) == (err == nil) {
			t.Fatalf("ParseAnswer = %v, %v, want one of them", credential, err)
		}
		if err != nil {
			return
		}
		if credential.Token().IsEmpty() && credential.Certificate() == nil {
			t.Fatal("ParseAnswer accepted an answer without a credential")
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"s","config":{"a":1}},"interactive":true}}`))
	for _, c := range answers(f) {
		f.Add([]byte(c.output))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		object, err := execcredential.Parse(data)
		if err != nil {
			return
		}
		config := execcredential.ExecConfig{APIVersion: object.APIVersion, ProvideClusterInfo: true}
		info, err := execcredential.Info(config, object.Spec.Cluster, object.Spec.Interactive)
		if err != nil {
			t.Fatalf("Info of a parsed object: %v", err)
		}
		again, err := execcredential.Parse([]byte(info))
		if err != nil || again.Spec.Interactive != object.Spec.Interactive {
			t.Fatalf("Parse(Info(object)) = %v, %v", again, err)
		}
	})
}
