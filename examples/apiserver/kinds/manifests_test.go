package kinds_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
)

const twoObjects = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
# a comment and nothing else
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cm, namespace: shop}
data: {a: b}
`

func TestParseObjects(t *testing.T) {
	t.Run("STK-4 the objects of a file, in order", func(t *testing.T) {
		objects, err := kinds.ParseObjects([]byte(twoObjects))
		if err != nil || len(objects) != 2 {
			t.Fatalf("ParseObjects = %d objects, %v", len(objects), err)
		}
		if m, ok := objects[1].(*corev1.ConfigMap); !ok || m.Data["a"] != "b" {
			t.Errorf("second object = %T", objects[1])
		}
	})
	for name, text := range map[string]string{
		"an unknown kind":  strings.Replace(twoObjects, "ConfigMap", "ConfigMop", 1),
		"an unknown field": strings.Replace(twoObjects, "data:", "dada:", 1),
		"a doubled field":  twoObjects + "data: {c: d}\n",
	} {
		t.Run("STK-4 refuses "+name+" and says which document", func(t *testing.T) {
			if _, err := kinds.ParseObjects([]byte(text)); err == nil || !strings.Contains(err.Error(), "document ") {
				t.Errorf("ParseObjects = %v", err)
			}
		})
	}
}

// FuzzParseObjects reads any text: it never panics, and an error comes without objects.
func FuzzParseObjects(f *testing.F) {
	for _, seed := range []string{"", "---", twoObjects, "{}", "a: b", `{"apiVersion":"v1","kind":"Pod"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if objects, err := kinds.ParseObjects(text); err != nil && len(objects) > 0 {
			t.Errorf("%d objects beside %v", len(objects), err)
		}
	})
}
