package authorize_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
)

// shown is every form in which people print an error.
func shown(t *testing.T, err error) string {
	t.Helper()
	encoded, fault := json.Marshal(err)
	if fault != nil {
		t.Fatal(fault)
	}
	return fmt.Sprintf("%v %+v %#v %s %#v", err, err, err, encoded, struct{ inner error }{err})
}

func TestErrorsShowNoAnswer(t *testing.T) {
	const secret = "sesame4711"
	for name, body := range map[string]string{
		"not JSON":            "<html>" + secret,
		"another kind":        strings.Replace(allowed, "SubjectAccessReview", secret, 1),
		"another version":     strings.Replace(allowed, "authorization.k8s.io/v1", secret, 1),
		"a field twice":       strings.Replace(allowed, "{", `{"kind":"`+secret+`",`, 1),
		"a time that is none": strings.Replace(allowed, "{", `{"metadata":{"creationTimestamp":"`+secret+`"},`, 1),
		"a number for a text": strings.Replace(allowed, "{", `{"metadata":{"name":4711},`, 1),
	} {
		t.Run("MOD-9 "+name, func(t *testing.T) {
			_, err := answering(201, body).Review(t.Context(), question("u"))
			if !errors.Is(err, authorize.ErrNotAReview) || strings.Contains(shown(t, err), "4711") {
				t.Errorf("error = %s, want ErrNotAReview without the answer", shown(t, err))
			}
		})
	}
	t.Run("MOD-9 another status", func(t *testing.T) {
		_, err := answering(403, secret).Review(t.Context(), question("u"))
		var fault *authorize.StatusError
		if !errors.As(err, &fault) || fault.Body.Reveal() != secret || err.Error() != "review answered with status 403 Forbidden" {
			t.Fatalf("error = %v, want the status, with the answer in Body", err)
		}
		if text := shown(t, err); strings.Contains(text, secret) {
			t.Errorf("error shows %s", text)
		}
	})
	t.Run("MOD-9 a password in the server's address", func(t *testing.T) {
		broken := roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
		for _, server := range []string{"https://u:" + secret + "@api:x", "https://u:" + secret + "@api\x7f", "https://u:" + secret + "@api"} {
			c := &authorize.Client{Server: server, HTTP: &http.Client{Transport: broken}}
			if _, err := c.Review(t.Context(), question("u")); err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("error = %v, want one without the password", err)
			}
		}
	})
	t.Run("MOD-9 a panic's value and stack", func(t *testing.T) {
		for _, value := range []any{secret, errors.New(secret)} {
			if text := shown(t, authorize.NewPanicError(value)); strings.Contains(text, secret) || strings.Contains(text, "goroutine") {
				t.Errorf("error shows %s", text)
			}
		}
		if stack := string(authorize.NewPanicError(secret).Stack.Reveal()); !strings.Contains(stack, "redaction_test.go") {
			t.Errorf("stack = %s, want this file in it", stack)
		}
	})
}
