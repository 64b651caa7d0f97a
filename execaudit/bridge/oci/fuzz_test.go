package oci_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// decoded is what encoding/json, and so runc, reads in a process file.
type decoded struct {
	Args     []string
	Env      []string
	Terminal bool
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		`{"terminal":true,"user":{"uid":1},"args":["lanyard-exec:1:abc","sh"],"env":["A=1","LANYARD_EXEC_SESSION=x"],"cwd":"/"}`,
		` { "env" : [ ] , "args" : [ "lanyard-exec:" , "" ] } `, `{"args":["lanyard-exec:1:abc","sh"],"env":null}`, `{"args":["lanyard-exec:1:abc","\ud800\u0000"]}`,
		`{"args":["sh","lanyard-exec:"]}`, `{"args":[],"Args":["x"]}`, `{"x":{"args":1},"args":["lanyard-exec:x","y"],"capabilities":{"bounding":[]}}`,
		"{\"args\":[\"lanyard-exec:x\",\"\xff\"],\"env\":[\"\xfe=\",\"LANYARD_EXEC_SESSION\"]}", `{"env":["LANYARD_EXEC_SESSION=a","LANYARD_EXEC_SESSION=b"],"args":["lanyard-exec:x","y"]}`,
	} {
		f.Add([]byte(seed), "0e984725-c51c-4bf4-9960-e1c80e27aba0")
	}
	f.Fuzz(func(t *testing.T, text []byte, session string) {
		p, err := oci.ParseProcess(text)
		if err != nil {
			return
		}
		var before decoded
		if err := json.Unmarshal(text, &before); err != nil || !slices.Equal(before.Args, p.Args) || !slices.Equal(before.Env, p.Env) || before.Terminal != p.Terminal {
			t.Fatalf("%s is %+v, want %+v, %v", text, p, before, err)
		}
		held := slices.ContainsFunc(before.Args, token.Like)
		if held && !oci.HoldsToken(text) {
			t.Errorf("HoldsToken(%s) = false", text)
		}
		element, command, err := p.Split()
		if err != nil || element == "" {
			if held != (err != nil) {
				t.Errorf("Split of %s: %q, %v", text, element, err)
			}
			return
		}
		session = strings.ToValidUTF8(session, "")
		out := p.Rewrite(session)
		var after decoded
		if err := json.Unmarshal(out, &after); err != nil || !slices.Equal(after.Args, command) || after.Terminal != before.Terminal {
			t.Fatalf("%s became %s, %v", text, out, err)
		}
		want := slices.DeleteFunc(slices.Clone(before.Env), func(entry string) bool {
			name, _, _ := strings.Cut(entry, "=")
			return name == "LANYARD_EXEC_SESSION"
		})
		if session != "" {
			want = slices.Insert(want, 0, "LANYARD_EXEC_SESSION="+session)
		}
		if !slices.Equal(after.Env, want) {
			t.Errorf("env became %q, want %q", after.Env, want)
		}
		if got, want := others(t, out), others(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %s: %q, want %q", text, out, got, want)
		}
	})
}

// others returns the members that are not ours, in their order, byte for byte.
func others(t *testing.T, text []byte) (all []string) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			t.Fatal(err)
		}
		if name == "args" || name == "env" {
			continue
		}
		all = append(all, name.(string)+"="+string(value))
	}
	return all
}

func FuzzParseCall(f *testing.F) {
	for _, seed := range []string{
		"--root\x00/r\x00--log\x00/l\x00exec\x00--process\x00/f\x00c1", "exec\x00-p", "-\x00--\x00-=", "exec\x00-dp=\x00--x=\x00c1\x00y", "--root=", "", "\x00\x00exec",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		kept := slices.Clone(args)
		c := oci.ParseCall(args)
		if !slices.Equal(args, kept) {
			t.Errorf("the arguments became %q", args)
		}
		if len(c.Rest) > len(args) {
			t.Errorf("ParseCall(%q) = %+v", args, c)
		}
	})
}

func FuzzParseBundle(f *testing.F) {
	for _, seed := range []string{containerdBundle, crioBundle, `{"annotations":{"a":1},"process":{"Env":["x"]}}`, `[]`, `{"process":7}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := oci.ParseBundle(text)
		if err != nil {
			return
		}
		var want struct {
			Annotations map[string]any
		}
		if err := json.Unmarshal(text, &want); err != nil {
			return // annotations of another form
		}
		if uid := b.PodUID; uid != "" && uid != want.Annotations["io.kubernetes.cri.sandbox-uid"] && uid != want.Annotations["io.kubernetes.pod.uid"] {
			t.Errorf("pod UID %q of %s", uid, text)
		}
	})
}

func FuzzParseState(f *testing.F) {
	for _, seed := range []string{`{"config":{"labels":["bundle=/b"]}}`, `{"bundle":"/b"}`, `{"config":[]}`, `7`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bundle, err := oci.ParseState(text); err == nil && !strings.HasPrefix(bundle, "/") {
			t.Errorf("ParseState(%s) = %q", text, bundle)
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	f.Add(config().Encode())
	f.Add([]byte(`{"version":1,"runtime":"/r","passThrough":true}`))
	f.Add([]byte(`{"version":1,"runtime":"/r","node":"n","keys":"/k","spool":"/s","skew":"1h"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := oci.ParseConfig(text)
		if err != nil {
			return
		}
		if len(c.UnmarkedNamespaces) == 0 {
			c.UnmarkedNamespaces = nil
		}
		again, err := oci.ParseConfig(c.Encode())
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%s: %+v, %v, want %+v", c.Encode(), again, err, c)
		}
	})
}
