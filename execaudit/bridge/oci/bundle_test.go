package oci_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

const containerdBundle = `{"ociVersion":"1.3.0","process":{"env":["A=1"]},"annotations":{
	"io.kubernetes.cri.container-name":"app","io.kubernetes.cri.container-type":"container","io.kubernetes.cri.image-name":"i",
	"io.kubernetes.cri.sandbox-id":"s","io.kubernetes.cri.sandbox-name":"web","io.kubernetes.cri.sandbox-namespace":"default",
	"io.kubernetes.cri.sandbox-uid":"u1"}}`

const crioBundle = `{"annotations":{
	"io.kubernetes.cri-o.ContainerType":"container","io.kubernetes.cri-o.Name":"k8s_app_web_default_u1_0","io.kubernetes.cri-o.Metadata":"{\"name\":\"app\"}",
	"io.kubernetes.container.name":"app","io.kubernetes.pod.name":"web","io.kubernetes.pod.namespace":"default","io.kubernetes.pod.uid":"u1",
	"bridge.lanyard.dev/mark":"off"}}`

var forApp = token.Token{Pod: token.Pod{UID: "u1", Namespace: "default", Name: "web"}, Container: "app"}

func TestParseBundle(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want oci.Bundle
	}{
		"BRG-1 containerd's container": {
			containerdBundle, oci.Bundle{PodUID: "u1", Namespace: "default", Pod: "web", Container: "app", Env: []string{"A=1"}},
		},
		"BRG-14 CRI-O's container, whose pod opted out": {
			crioBundle, oci.Bundle{PodUID: "u1", Namespace: "default", Pod: "web", Container: "app", Unmarked: true},
		},
		"BRG-1 a sandbox": {
			strings.Replace(containerdBundle, `"container"`, `"sandbox"`, 1),
			oci.Bundle{PodUID: "u1", Namespace: "default", Pod: "web", Env: []string{"A=1"}},
		},
		"BRG-5 a container that is not Kubernetes'": {`{"annotations":{"io.kubernetes.cri.sandbox-uid":"u"}}`, oci.Bundle{}},
		"BRG-5 no annotations":                      {`{"annotations":null}`, oci.Bundle{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := oci.ParseBundle([]byte(c.text)); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("ParseBundle = %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	for text, want := range map[string]string{
		`{`:                                   "unknown container: config.json not valid JSON",
		`{"annotations":{},"Annotations":{}}`: "unknown container: annotations is there twice, or in another case",
		`{"annotations":{"io.kubernetes.pod.uid":"a","io.kubernetes.pod.uid":"b"}}`:                                        "unknown container: annotation io.kubernetes.pod.uid is there twice",
		`{"annotations":{"io.kubernetes.pod.uid":1}}`:                                                                      "unknown container: annotation io.kubernetes.pod.uid is not a string",
		`{"annotations":{"io.kubernetes.cri.container-type":"container","io.kubernetes.cri-o.ContainerType":"container"}}`: "unknown container: annotations of containerd and of CRI-O at once",
	} {
		t.Run("BRG-4 "+want, func(t *testing.T) {
			if _, err := oci.ParseBundle([]byte(text)); !errors.Is(err, oci.ErrBundle) || err.Error() != want {
				t.Errorf("ParseBundle = %v, want %s", err, want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for _, text := range []string{containerdBundle, crioBundle} {
		b, err := oci.ParseBundle([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		t.Run("BRG-2 the container that the token is for", func(t *testing.T) {
			if err := b.Check(forApp); err != nil {
				t.Error(err)
			}
		})
		for want, change := range map[string]func(*token.Token){
			`token is for another pod UID: "u2", this is "u1"`:           func(t *token.Token) { t.Pod.UID = "u2" },
			`token is for another namespace: "other", this is "default"`: func(t *token.Token) { t.Pod.Namespace = "other" },
			`token is for another pod: "web-0", this is "web"`:           func(t *token.Token) { t.Pod.Name = "web-0" },
			`token is for another container: "sidecar", this is "app"`:   func(t *token.Token) { t.Container = "sidecar" },
		} {
			t.Run("BRG-4 "+want, func(t *testing.T) {
				other := forApp
				change(&other)
				if err := b.Check(other); !errors.Is(err, oci.ErrMismatch) || err.Error() != want {
					t.Errorf("Check = %v, want %s", err, want)
				}
			})
		}
	}
	for name, text := range map[string]string{
		"BRG-4 a container of no pod":                     `{}`,
		"BRG-4 a pod's sandbox":                           strings.Replace(containerdBundle, `"container"`, `"sandbox"`, 1),
		"BRG-4 a bundle that does not tell the pod's UID": strings.Replace(containerdBundle, "sandbox-uid", "sandbox-x", 1),
	} {
		t.Run(name, func(t *testing.T) {
			b, err := oci.ParseBundle([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Check(forApp); !errors.Is(err, oci.ErrBundle) {
				t.Errorf("Check = %v, want %v", err, oci.ErrBundle)
			}
		})
	}
}

func TestState(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"BRG-1 runc's":                      {`{"id":"c1","config":{"rootfs":"/x","labels":["io.x=1","bundle=/b 1"]}}`, "/b 1"},
		"BRG-4 not an annotation's of runc": {`{"config":{"labels":["bundle=/planted","bundle=/b"]}}`, "/b"},
		"BRG-1 crun's":                      {`{"pid":1,"bundle":"/b","rootfs":"/x"}`, "/b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := oci.ParseState([]byte(c.text)); err != nil || got != c.want {
				t.Errorf("ParseState = %q, %v, want %q", got, err, c.want)
			}
		})
	}
	for _, text := range []string{``, `{}`, `{"bundle":"b"}`, `{"config":{"labels":["bundle"]}}`} {
		t.Run("BRG-4 no bundle in "+text, func(t *testing.T) {
			if got, err := oci.ParseState([]byte(text)); !errors.Is(err, oci.ErrBundle) {
				t.Errorf("ParseState = %q, %v", got, err)
			}
		})
	}
	t.Run("BRG-4 an ID is one element of a path", func(t *testing.T) {
		runc, crun, err := oci.StatePath("/run/runc", "c1")
		if runc != "/run/runc/c1/state.json" || crun != "/run/runc/c1/status" || err != nil {
			t.Errorf("StatePath = %s, %s, %v", runc, crun, err)
		}
		for _, id := range []string{"", ".", "..", "../c1", "a/b", "a\x00"} {
			if _, _, err := oci.StatePath("/run/runc", id); !errors.Is(err, oci.ErrBundle) {
				t.Errorf("StatePath of %q: %v", id, err)
			}
		}
	})
}
