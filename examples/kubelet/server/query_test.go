package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestUnreadableQuery asks for what net/url's Query would leave a part of out. The server has no pods and no runtime: a
// request that went further would crash it.
func TestUnreadableQuery(t *testing.T) {
	s := New(Options{Metrics: http.NotFoundHandler()})
	for _, v := range []struct{ method, target string }{
		{http.MethodGet, "/exec/ns/p/c?command=sh&command=-c&command=hunter2;b"},
		{http.MethodPost, "/exec/ns/p/c?command=sh&command=%zzhunter2"},
		{http.MethodPost, "/exec/ns/p/uid/c?command=ls;env=A%3Dhunter2"},
		{http.MethodGet, "/attach/ns/p/c?input=1;hunter2"},
		{http.MethodPost, "/run/ns/p/c?cmd=hunter2;b"},
		{http.MethodGet, "/containerLogs/ns/p/c?tailLines=1;hunter2"},
	} {
		t.Run("EXA-32 a command is not run, and a log not shown, without what cannot be read: "+v.target, func(t *testing.T) {
			r := httptest.NewRequest(v.method, "/", nil)
			path, query, _ := strings.Cut(v.target, "?")
			r.URL.Path, r.URL.RawQuery = path, query
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "cannot be read") || strings.Contains(w.Body.String(), "hunter2") {
				t.Errorf("status %d, %s", w.Code, w.Body)
			}
		})
	}
}
