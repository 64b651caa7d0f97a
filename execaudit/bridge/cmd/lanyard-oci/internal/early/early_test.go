//go:build linux

package early

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestEarly(t *testing.T) {
	t.Run("BRG-4 the same prefix as package token's", func(t *testing.T) {
		if tokenPrefix != token.Prefix {
			t.Errorf("%q, want %q", tokenPrefix, token.Prefix)
		}
	})
	t.Run("BRG-5 a configuration as it is written is taken, and every field is known", func(t *testing.T) {
		c := oci.Config{Runtime: "/r", Node: "n", Keys: "/k", Spool: "/s"}
		if got := parse(c.Encode()); got != (setting{path: "/r"}) {
			t.Errorf("parse(%s) = %+v", c.Encode(), got)
		}
		c = oci.Config{Runtime: "/r", PassThrough: true}
		if got := parse(c.Encode()); got != (setting{}) && got != (setting{path: "/r", passThrough: true}) {
			t.Errorf("parse(%s) = %+v", c.Encode(), got)
		}
		if fields := reflect.TypeFor[oci.Config]().NumField() + 1; fields != len(names) {
			t.Errorf("%d names, want %d", len(names), fields)
		}
	})
	t.Run("BRG-14 where workloads are marked, no call is left out", func(t *testing.T) {
		c := oci.Config{Runtime: "/r", Node: "n", Keys: "/k", Spool: "/s", Mark: oci.MarkWorkloads}
		if got := parse(c.Encode()); got.path != "" {
			t.Errorf("parse = %+v", got)
		}
	})
	t.Run("BRG-6 what is taken here is a configuration that package oci takes, but for a skew", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			words := rapid.SampledFrom([]string{
				`"version":1`, `"version":2`, `"version":"1"`, `"runtime":"/r"`, `"runtime":"r"`, `"Runtime":"/x"`, `"runtime":7`, `"node":"n"`, `"node":""`,
				`"keys":"/k"`, `"keys":"k"`, `"spool":"/s"`, `"spool":null`, `"mark":"off"`, `"mark":7`, `"failure":null`, `"handler":{}`, `"unmarkedNamespaces":"x"`, `"skew":"1s"`, `"mark":"all"`, `"mark":"workloads"`, `"failure":"open"`, `"failure":"x"`,
				`"passThrough":true`, `"passThrough":"true"`, `"handler":"h"`, `"later":1`,
			})
			text := "{" + strings.Join(rapid.SliceOfN(words, 0, 12).Draw(rt, "members"), ",") + "}"
			got := parse([]byte(text))
			want, err := oci.ParseConfig([]byte(text))
			if got.path != "" && (err != nil || want.Runtime != got.path || want.PassThrough != got.passThrough || want.Mark == oci.MarkWorkloads && !want.PassThrough) {
				rt.Errorf("parse(%s) = %+v, want %+v, %v", text, got, want, err)
			}
		})
	})
	t.Run("BRG-4 an exec that is let through has no token in any spelling", func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, "process")
		rapid.Check(t, func(rt *rapid.T) {
			letter := rapid.Custom(func(rt *rapid.T) string {
				c := rapid.SampledFrom([]string{"l", "a", "n", "y", "r", "d", "-", "e", "x", "c", ":", "lanyard-", "exec:", "lanyard-exec:", `\\`}).Draw(rt, "letter")
				if len(c) == 1 && rapid.Bool().Draw(rt, "escaped") {
					return `\u00` + string("0123456789abcdef"[c[0]>>4]) + string("0123456789abcdef"[c[0]&15])
				}
				return c
			})
			text := `{"args":["` + strings.Join(rapid.SliceOf(letter).Draw(rt, "argument"), "") + `"]}`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				rt.Fatal(err)
			}
			p, err := oci.ParseProcess([]byte(text))
			if err != nil {
				rt.Fatal(err)
			}
			if plain([]string{"exec", "-p", file, "c1"}, setting{path: "/r"}) && token.Like(p.Args[0]) {
				rt.Errorf("%s is let through", text)
			}
		})
	})
	file := filepath.Join(t.TempDir(), "process")
	if err := os.WriteFile(file, []byte(`{"args":["sh"],"env":["A=\u003c"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]bool{
		"state c1":                          true,
		"--root /r exec c1 sh":              true,
		"exec c1 lanyard-exec:1:x":          false,
		"exec c1 sh lanyard-exec:1:x":       false,
		"exec --process /nonexistent c1":    false,
		"exec --process /dev/null c1":       false,
		"exec --process=/proc/self/exe c1":  false,
		"delete lanyard-exec:1:x":           true,
		"exec -p FILE c1":                   true,
		"exec -d -pFILE c1 x y":             true,
		"--log /dev/null exec -p . c1":      false,
		"exec --pid-file /x c1 --process y": true,
	} {
		t.Run("BRG-5 "+call, func(t *testing.T) {
			if got := plain(strings.Fields(strings.ReplaceAll(call, "FILE", file)), setting{path: "/r"}); got != want {
				t.Errorf("plain = %t, want %t", got, want)
			}
		})
	}
	t.Run("BRG-5 arguments, empty ones too", func(t *testing.T) {
		if got := arguments([]byte("runc\x00\x00é\xff\x00\x00")); !reflect.DeepEqual(got, []string{"runc", "", "é\xff", ""}) {
			t.Errorf("arguments = %q", got)
		}
	})
}
