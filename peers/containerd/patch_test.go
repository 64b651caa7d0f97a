package containerd_test

import (
	"errors"
	"go/format"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/peers/containerd"
)

// small is a source with every place that a patch can name.
const small = `package server

import (
	"context"

	"example.org/oci"
)

type options struct {
	cmd []string
	tty bool
}

func (s *service) Exec(ctx context.Context, r *Request) (*Response, error) {
	c, err := s.find(r)
	if err != nil {
		return nil, err
	}
	// It goes to the client.
	return s.server.GetExec(r, options{
		cmd: c.cmd,
	})
}

func start(opts options) error {
	if opts.tty {
		oci.WithEnv("TERM=xterm")
	}
	return run()
}
`

func patch(places ...containerd.Place) containerd.Patch {
	return containerd.Patch{File: "server/exec.go", Imports: []containerd.Import{{Name: "ours", Path: "example.net/ours"}}, Places: places}
}

func place(in string, where containerd.Where, lines string) containerd.Place {
	return containerd.Place{In: in, Where: where, Lines: lines}
}

func all() containerd.Patch {
	return patch(
		place("(*service).Exec", containerd.BeforeCall("s.server.GetExec"), "\tours.Pack(r)\n"),
		place("(*service).Exec", containerd.LastElement("options"), "\t\tenv: nil,\n"),
		place("options", containerd.LastField(), "\tenv []string\n"),
		place("start", containerd.AfterIf("opts.tty", "oci.WithEnv"), "\tours.Merge(opts.env)\n"),
	)
}

// inserted is small with all of it.
const inserted = `package server

import (
	"context"

	"example.org/oci"

	ours "example.net/ours"
)

type options struct {
	cmd []string
	tty bool
	env []string
}

func (s *service) Exec(ctx context.Context, r *Request) (*Response, error) {
	c, err := s.find(r)
	if err != nil {
		return nil, err
	}
	// It goes to the client.
	ours.Pack(r)
	return s.server.GetExec(r, options{
		cmd: c.cmd,
		env: nil,
	})
}

func start(opts options) error {
	if opts.tty {
		oci.WithEnv("TERM=xterm")
	}
	ours.Merge(opts.env)
	return run()
}
`

func TestApply(t *testing.T) {
	t.Run("EXA-37 every place gets its lines, and the rest stays", func(t *testing.T) {
		got, err := all().Apply([]byte(small))
		if err != nil || string(got) != inserted {
			t.Errorf("Apply = %v\n%s", err, got)
		}
	})
	t.Run("EXA-37 the same source gives the same result, formatted", func(t *testing.T) {
		first, _ := all().Apply([]byte(small))
		second, _ := all().Apply([]byte(small))
		formatted, err := format.Source(first)
		if err != nil || string(first) != string(second) || string(formatted) != string(first) {
			t.Errorf("%v\n%s\n%s", err, first, second)
		}
	})
	t.Run("EXA-37 nothing to insert changes nothing", func(t *testing.T) {
		if got, err := (containerd.Patch{}).Apply([]byte(small)); err != nil || string(got) != small {
			t.Errorf("Apply = %v\n%s", err, got)
		}
	})
}

func TestApplyRefuses(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(small, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(small, old, new, 1)
	}
	for _, tt := range []struct {
		name, source string
		want         []string // in the error
	}{
		{"a source that has it already", inserted, []string{"imports example.net/ours already"}},
		{"a name of an import that is taken", replace(`"example.org/oci"`, `"example.org/ours"`), []string{"name ours", "example.org/ours"}},
		{"no block of imports", replace("import (\n\t\"context\"\n\n\t\"example.org/oci\"\n)", `import "context"`), []string{"no import block"}},
		{"no such method", replace(") Exec(", ") Execute("), []string{"0 functions", "(*service).Exec"}},
		{"a receiver that is not a pointer", replace("(s *service) Exec", "(s service) Exec"), []string{"(*service).Exec"}},
		{"no such type", replace("type options", "type settings"), []string{"0 functions or struct types options"}},
		{"a type that is not a struct", replace("type options struct {\n\tcmd []string\n\ttty bool\n}", "type options []string"), []string{"struct types options"}},
		{"no such call", replace("s.server.GetExec(r", "s.server.Get(r"), []string{"(*service).Exec", "0 statements call s.server.GetExec"}},
		{"two such calls", replace("\treturn s.server", "\ts.server.GetExec(r, options{})\n\treturn s.server"), []string{"(*service).Exec", "2 statements call s.server.GetExec"}},
		{"two statements in one line", replace("\treturn s.server", "\tvar x int; return s.server"), []string{"(*service).Exec", "does not begin there"}},
		{"two literals", replace("s.find(r)", "s.find(options{})"), []string{"(*service).Exec", "2 literals of options"}},
		{"a literal in one line", replace("options{\n\t\tcmd: c.cmd,\n\t}", "options{cmd: c.cmd}"), []string{"(*service).Exec", "does not begin there"}},
		{"another condition", replace("if opts.tty", "if !opts.tty"), []string{"start", "opts.tty"}},
		{"an else", replace("\t}\n\treturn run()", "\t} else {\n\t\trun()\n\t}\n\treturn run()"), []string{"start", "without else"}},
		{"a call that is not in an if", replace("\tif opts.tty {\n\t\toci.WithEnv(\"TERM=xterm\")\n\t}", "\toci.WithEnv(\"TERM=xterm\")"), []string{"start", "oci.WithEnv"}},
		{"a second call after the if", replace("\treturn run()", "\toci.WithEnv(\"X=\")\n\treturn run()"), []string{"start", "2 statements call oci.WithEnv"}},
		{"a source that is not formatted", replace("\treturn run()", "\treturn  run()"), []string{"gofmt"}},
	} {
		t.Run("EXA-37 an error names file and place: "+tt.name, func(t *testing.T) {
			got, err := all().Apply([]byte(tt.source))
			if !errors.Is(err, containerd.ErrShape) || got != nil {
				t.Fatalf("Apply = %v\n%s", err, got)
			}
			for _, want := range append(tt.want, "server/exec.go: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, want %q in it", err, want)
				}
			}
		})
	}
	t.Run("EXA-37 a source that is not Go is the parser's error", func(t *testing.T) {
		if _, err := all().Apply([]byte("pack server")); err == nil || !strings.Contains(err.Error(), "server/exec.go") {
			t.Errorf("Apply = %v", err)
		}
	})
	for name, p := range map[string]containerd.Patch{
		"lines that are not formatted": patch(place("start", containerd.BeforeCall("run"), "    run( )\n")),
		"lines that are not Go":        patch(place("start", containerd.BeforeCall("run"), "\tif {\n")),
		"a field of a function":        patch(place("start", containerd.LastField(), "\ta int\n")),
		"a call in a type":             patch(place("options", containerd.BeforeCall("run"), "\ta int\n")),
	} {
		t.Run("EXA-37 a patch that cannot be: "+name, func(t *testing.T) {
			if got, err := p.Apply([]byte(small)); !errors.Is(err, containerd.ErrShape) || got != nil {
				t.Errorf("Apply = %v\n%s", err, got)
			}
		})
	}
}

func FuzzApply(f *testing.F) {
	f.Add(small)
	f.Add(inserted)
	f.Add("package server\n\nfunc start() {\n}")
	f.Fuzz(func(t *testing.T, source string) {
		got, err := all().Apply([]byte(source))
		if err != nil {
			return
		}
		if again, err := all().Apply(got); err == nil {
			t.Errorf("applied twice\n%s", again)
		}
		for line := range strings.Lines(source) {
			if !strings.Contains(string(got), line) {
				t.Errorf("%q is gone", line)
			}
		}
	})
}
