package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/lanyard-dev/lanyard/kubeletauthz/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxInputBytes bounds one file or standard input.
const maxInputBytes = 64 << 20 // 64 MiB

// errNoRoles says that there is nothing to judge, which is neither a refusal nor the absence of findings.
var errNoRoles = errors.New("no roles were read")

// manifests are the RBAC objects of the inputs, in their order, and where each role stood.
type manifests struct {
	rbac.Snapshot
	roles  []role
	first  map[string]placed // by kind, namespace and name: the first role of that name
	notes  []string          // what was not used, with its place
	faults int               // how many of the notes are faults
}

// placed are a role's rules and where it stood.
type placed struct {
	place
	rules []rbacv1.PolicyRule
}

// place is where a document begins; item is its position in a list, from 1, or 0.
type place struct {
	file string
	line int
	item int
}

// String is "FILE:LINE", and of an item of a list "FILE:LINE: item N".
func (p place) String() string {
	if p.item > 0 {
		return fmt.Sprintf("%s:%d: item %d", p.file, p.line, p.item)
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// role is a ClusterRole or a Role.
type role struct {
	from string
	kind string
	meta metav1.ObjectMeta
	list []rbacv1.PolicyRule
}

// title names a role for people.
func (r role) title() string {
	return fmt.Sprintf("%s: %s %q", r.from, r.kind, qualified(r.meta))
}

// qualified is "name" or "namespace/name".
func qualified(meta metav1.ObjectMeta) string {
	if meta.Namespace != "" {
		return meta.Namespace + "/" + meta.Name
	}
	return meta.Name
}

// read reads every file. A document is used, noted as not RBAC, or refused with its place; what is refused does not
// keep the rest from being read. The error is errUsage without files, and errNoRoles, beside the notes.
func read(c console, files []string) (*manifests, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: -f is missing", errUsage)
	}
	m := &manifests{first: map[string]placed{}}
	for _, name := range files {
		before := m.objects() + len(m.notes)
		if err := m.file(c, name); err != nil {
			m.fault(name, "%v", err)
		}
		if m.objects()+len(m.notes) == before {
			m.note("%s: no RBAC objects", name)
		}
	}
	m.aggregate()
	if len(m.roles) == 0 {
		return m, errNoRoles
	}
	return m, nil
}

func (m *manifests) objects() int {
	return len(m.roles) + len(m.ClusterBindings) + len(m.Bindings)
}

func (m *manifests) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// fault notes what makes the answers incomplete.
func (m *manifests) fault(at any, format string, args ...any) {
	m.faults++
	m.note("%v: %s", at, fmt.Sprintf(format, args...))
}

// code is a command's exit code, unless an input could not be read.
func (m *manifests) code(code int) int {
	if m.faults > 0 {
		return exitInput
	}
	return code
}

func (m *manifests) file(c console, name string) error {
	in := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return errors.Unwrap(err) // the name stands in front already
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInputBytes+1))
	if err != nil {
		return err
	}
	if len(text) > maxInputBytes {
		return fmt.Errorf("more than %d bytes", maxInputBytes)
	}
	if len(text) > 1 && (text[0] == 0xff && text[1] == 0xfe || text[0] == 0xfe && text[1] == 0xff) {
		m.fault(place{file: name, line: 1}, "refused: UTF-16, want UTF-8")
		return nil
	}
	for d := range documents(text) {
		at := place{file: name, line: d.line}
		if d.err == nil {
			d.err = m.document(at, d.json)
		}
		if d.err != nil {
			m.fault(at, "refused: %v", d.err)
		}
	}
	return nil
}

// keep adds a role. Two of one name with different rules are a fault: which of them counts depends on how they are
// applied.
func (m *manifests) keep(at place, kind string, meta metav1.ObjectMeta, rules []rbacv1.PolicyRule) {
	name := kind + " " + qualified(meta)
	first, found := m.first[name]
	switch {
	case !found:
		m.first[name] = placed{at, rules}
	case meta.Name != "" && !reflect.DeepEqual(first.rules, rules):
		m.fault(at, "conflict: %s %q has other rules at %s; which count depends on the order of applying", kind, qualified(meta), first.place)
	}
	m.roles = append(m.roles, role{at.file, kind, meta, rules})
}
