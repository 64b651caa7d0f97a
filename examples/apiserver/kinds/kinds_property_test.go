package kinds_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/apiserver/kinds"
	"github.com/lanyard-dev/lanyard/execaudit"
)

func decode(t interface{ Fatal(...any) }, k kinds.Kinds, query string, into runtime.Object) {
	values, _ := url.ParseQuery(query) // what net/http hands on: the part that parses
	if err := runtime.NewParameterCodec(k.Scheme).DecodeParameters(values, corev1.SchemeGroupVersion, into); err != nil {
		t.Fatal(err)
	}
}

func TestExecOptions(t *testing.T) {
	k := kinds.New(true)
	t.Run("EXA-32 what a client encodes is what admission sees", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			text := rapid.String().Filter(func(s string) bool { return !strings.ContainsRune(s, 0) })
			name := text.Filter(func(s string) bool { return s != "" && !strings.Contains(s, "=") })
			want := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) envprecedence.Entry {
				return envprecedence.NewEntry(name.Draw(rt, "name"), text.Draw(rt, "value"))
			}), 0, 20).Draw(rt, "env")
			query, err := execaudit.EncodeQuery(want)
			if err != nil {
				rt.Fatal(err)
			}
			var o kinds.PodExecOptions
			decode(rt, k, "stdout=true&command=sh&command=-c&"+query, &o)
			if !slices.EqualFunc(o.Env, want, envprecedence.Entry.Equal) || o.Faults() != nil {
				rt.Errorf("decoded %d entries with %v, want %d", len(o.Env), o.Faults(), len(want))
			}
			if !o.Stdout || o.Stdin || !slices.Equal(o.Command, []string{"sh", "-c"}) {
				rt.Errorf("options = %+v", o)
			}
		})
	})
	t.Run("EXA-29 with the gate off the kind has no Env", func(t *testing.T) {
		var o corev1.PodExecOptions
		decode(t, kinds.New(false), "command=sh&env=A%3D1&env=%20&tty=1", &o)
		if !o.TTY || len(o.Command) != 1 {
			t.Errorf("options = %+v", o)
		}
	})
	t.Run("EXA-32 MOD-9 JSON is the form on the wire, print is not", func(t *testing.T) {
		const text = `{"kind":"PodExecOptions","apiVersion":"v1","tty":true,"command":["sh"],"env":[{"name":"A","value":"hunter2"},{"name":"B"}]}`
		var o kinds.PodExecOptions
		if err := json.Unmarshal([]byte(text), &o); err != nil || len(o.Env) != 2 || o.Env[0].Value.Reveal() != "hunter2" || !o.TTY || o.Faults() != nil {
			t.Errorf("Unmarshal = %v, %v, %v", o, o.Faults(), err)
		}
		if got, err := json.Marshal(&o); err != nil || string(got) != text {
			t.Errorf("Marshal = %s, %v, want %s", got, err, text)
		}
		if shown := fmt.Sprintf("%v %+v %#v", o, &o, o); strings.Contains(shown, "hunter2") {
			t.Errorf("a value is printed: %s", shown)
		}
		if got, err := json.Marshal(&kinds.PodExecOptions{Command: []string{"sh"}}); err != nil || string(got) != `{"command":["sh"]}` {
			t.Errorf("Marshal = %s, %v, want no env", got, err)
		}
	})
	t.Run("EXA-8 a valueFrom that a webhook returns is a fault", func(t *testing.T) {
		var o kinds.PodExecOptions
		err := json.Unmarshal([]byte(`{"env":[{"name":"A"},{"name":"B","valueFrom":{"fieldRef":{}}}]}`), &o)
		if err != nil || o.Faults() == nil || !strings.HasPrefix(o.Faults().Error(), "env[1].valueFrom: Forbidden") {
			t.Errorf("Unmarshal = %v, %v, want a fault of env[1].valueFrom", o.Faults(), err)
		}
	})
	t.Run("EXA-32 a deep copy shares nothing", func(t *testing.T) {
		o := &kinds.PodExecOptions{Command: []string{"a"}}
		o.Env = []envprecedence.Entry{envprecedence.NewEntry("A", "1")}
		c := o.DeepCopyObject().(*kinds.PodExecOptions)
		c.Command[0], c.Env[0].Name = "b", "B"
		if o.Command[0] != "a" || o.Env[0].Name != "A" {
			t.Errorf("original = %+v", o)
		}
	})
}

// FuzzExecOptions reads any query: it never panics, and what has faults has no entries.
func FuzzExecOptions(f *testing.F) {
	for _, seed := range []string{"", "env=A%3D1", "env=A", "env==", "env=%zz", "tty&stdin=false&stdout=0", "env=A%3D1;B", "command=a&command=b"} {
		f.Add(seed)
	}
	k := kinds.New(true)
	f.Fuzz(func(t *testing.T, query string) {
		var o kinds.PodExecOptions
		decode(t, k, query, &o)
		if o.Faults() != nil && len(o.Env) > 0 {
			t.Errorf("%d entries beside %v", len(o.Env), o.Faults())
		}
	})
}
