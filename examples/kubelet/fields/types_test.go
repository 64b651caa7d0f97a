package fields

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestTableIsComplete walks the API's types: a field that the API gained has no row, and one that it lost leaves a row
// behind.
func TestTableIsComplete(t *testing.T) {
	used := map[string]bool{}
	walk(t, reflect.TypeFor[corev1.PodSpec](), "", used)
	t.Run("STK-10 every row of the table is about a field", func(t *testing.T) {
		for _, r := range Table() {
			if !used[r.Path] {
				t.Errorf("the API has no field %s, or a row above it decides", r.Path)
			}
		}
		if len(table) != len(Table()) {
			t.Errorf("%d rows have %d paths, want as many", len(Table()), len(table))
		}
	})
	t.Run("STK-10 every row has a reason", func(t *testing.T) {
		for _, r := range Table() {
			if r.Why == "" || r.Verdict == Limited && r.allow == nil && len(r.Values) == 0 {
				t.Errorf("row %+v says too little", r)
			}
		}
	})
}

// walk fails the test for each field below a type that the table says nothing about.
func walk(t *testing.T, typ reflect.Type, path string, used map[string]bool) {
	t.Helper()
	if r, there := row(path); there {
		used[r.Path] = true
		if r.Verdict == Honoured && !single(typ) {
			t.Errorf("%s is honoured as a whole: what the API adds to %v would be, too", path, typ)
		}
		return
	}
	switch typ.Kind() {
	case reflect.Pointer:
		walk(t, typ.Elem(), path, used)
	case reflect.Slice:
		walk(t, typ.Elem(), path+"[]", used)
	case reflect.Struct:
		if typ.NumField() == 0 {
			t.Errorf("%s is not in the table and has no fields", path)
		}
		for i := range typ.NumField() {
			below := place{path: path}
			if name := jsonName(typ.Field(i)); name != "" {
				below = below.field(name)
			}
			walk(t, typ.Field(i).Type, below.path, used)
		}
	default:
		t.Errorf("%s is not in the table", path)
	}
}

// single reports whether a type is one value or a list of such.
func single(typ reflect.Type) bool {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	return typ.Kind() != reflect.Struct && typ.Kind() != reflect.Map || typ == reflect.TypeFor[resource.Quantity]()
}
