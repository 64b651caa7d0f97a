package authorize_test

import (
	"encoding/json"
	"testing"
)

// FuzzAnswer says: whatever a server answers, an allow is the whole document's plain and only word.
func FuzzAnswer(f *testing.F) {
	f.Add(201, allowed)
	for _, c := range faultyAnswers {
		if len(c.body) < 1000 {
			f.Add(c.code, c.body)
		}
	}
	f.Fuzz(func(t *testing.T, code int, body string) {
		got, err := answering(code, body).Review(t.Context(), question("u"))
		if err != nil && (got.Allowed || got.Reason != "") {
			t.Fatalf("Review of %q = %+v with error %v", body, got, err)
		}
		var plain struct {
			Kind   string
			Status struct{ Allowed bool }
		}
		if got.Allowed && (json.Unmarshal([]byte(body), &plain) != nil || !plain.Status.Allowed || code != 200 && code != 201) {
			t.Fatalf("Review of %d %q is allowed", code, body)
		}
	})
}
