package rawquery_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/examples/rawquery"
)

func TestCheck(t *testing.T) {
	for query, bad := range map[string]string{
		"":                           "",
		"&&a&a=&=b":                  "",
		"command=a%3Bb&tty=1":        "",
		"env=%zz&e%6Ev=A;b":          "", // execaudit's
		"command=a;hunter2":          "query parameter 0 ",
		"a=1&command=hunter2%zz&b=;": "query parameter 1 ",
		"%zz=hunter2":                "query parameter 0 ",
		"a;env=hunter2":              "query parameter 0 ",
	} {
		t.Run("EXA-32 "+query, func(t *testing.T) {
			err := rawquery.Check(query)
			if (err == nil) != (bad == "") || err != nil && (!strings.HasPrefix(err.Error(), bad) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("Check = %v, want %q", err, bad)
			}
		})
	}
	t.Run("EXA-32 what passes is read whole", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			query := rapid.StringMatching(`([a-c%;=&]|%[0-9a-g]{2}){0,12}`).Draw(t, "query")
			if _, err := url.ParseQuery(query); (err == nil) != (rawquery.Check(query) == nil) {
				t.Fatalf("Check(%q) = %v, ParseQuery: %v", query, rawquery.Check(query), err)
			}
		})
	})
}

func TestCheckIsCheap(t *testing.T) {
	for name, query := range map[string]string{
		"a 4 MiB escaped value": "command=" + strings.Repeat("%41", 4<<20/3),
		"a 4 MiB escaped key":   strings.Repeat("e%6ev", 4<<20/5) + "=;",
	} {
		t.Run("EXA-32 what is refused or passed is not decoded: "+name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_ = rawquery.Check(query)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
				t.Errorf("Check allocates %d bytes for %d of a query, want at most 64 KiB", got, len(query))
			}
		})
	}
}

func TestKeep(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/x?env=A;b", nil)
	if _, ok := rawquery.From(r.Context()); ok {
		t.Error("there was a query before it was kept")
	}
	var got string
	var ok bool
	rawquery.Keep(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got, ok = rawquery.From(r.Context()) })).ServeHTTP(httptest.NewRecorder(), r)
	if got != "env=A;b" || !ok {
		t.Errorf("From = %q, %t", got, ok)
	}
}
