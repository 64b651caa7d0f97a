package kubeletauthz_test

import (
	"slices"
	"testing"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

func TestEndpoints(t *testing.T) {
	all := kubeletauthz.Endpoints()
	t.Run("KAZ-2 every path of the KEP is documented", func(t *testing.T) {
		for _, path := range []string{"/configz", "/healthz", "/healthz/log", "/healthz/ping", "/healthz/syncloop", "/pods", "/runningpods/"} {
			if !slices.ContainsFunc(all, func(e kubeletauthz.Endpoint) bool { return e.Method == "GET" && e.Path == path }) {
				t.Errorf("Endpoints has no GET %s", path)
			}
		}
	})
	t.Run("KAZ-11 every route that a WebSocket reaches is listed as GET and POST", func(t *testing.T) {
		for _, path := range []string{"/exec/{namespace}/{pod}/{container}", "/attach/{namespace}/{pod}/{container}", "/portForward/{namespace}/{pod}"} {
			for _, method := range []string{"GET", "POST"} {
				if !slices.ContainsFunc(all, func(e kubeletauthz.Endpoint) bool { return e.Method == method && e.Path == path }) {
					t.Errorf("Endpoints has no %s %s", method, path)
				}
			}
		}
	})
	t.Run("KAZ-2 /allocatedPods is listed from 1.37 on", func(t *testing.T) {
		if !slices.ContainsFunc(all, func(e kubeletauthz.Endpoint) bool {
			return e.Method == "GET" && e.Path == "/allocatedPods" && e.Since == 37
		}) {
			t.Error("Endpoints has no GET /allocatedPods since 1.37")
		}
	})
	t.Run("each is complete, clean and listed once", func(t *testing.T) {
		for i, e := range all {
			if e.Answers == "" || !kubeletauthz.Clean(e.Path, "") || e.Since < kubeletauthz.MinorOldest || e.Since > kubeletauthz.MinorNewest {
				t.Errorf("endpoint = %+v", e)
			}
			if j := slices.IndexFunc(all, func(o kubeletauthz.Endpoint) bool { return o.Method == e.Method && o.Path == e.Path }); j != i {
				t.Errorf("%s %s is listed twice", e.Method, e.Path)
			}
		}
	})
	t.Run("the slice is the caller's", func(t *testing.T) {
		all[0].Path = "/changed"
		if kubeletauthz.Endpoints()[0].Path == "/changed" {
			t.Error("Endpoints shares its result")
		}
	})
}
