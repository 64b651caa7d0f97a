package registry

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// column is one column of what kubectl get shows, between the name and the age.
type column[T runtime.Object] struct {
	name string
	kind string // "string" or "integer"
	wide bool   // only with -o wide
	cell func(T) any
}

// table is the rest.TableConvertor of a resource.
type table[T runtime.Object] struct {
	columns []column[T]
}

// ConvertToTable implements rest.TableConvertor for an object and for a list.
func (t table[T]) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	result := &metav1.Table{}
	add := func(o runtime.Object) error {
		row, err := t.row(o)
		result.Rows = append(result.Rows, row)
		return err
	}
	if err := each(object, add); err != nil {
		return nil, err
	}
	if m, err := meta.CommonAccessor(object); err == nil {
		result.ResourceVersion = m.GetResourceVersion()
	}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		result.ColumnDefinitions = t.header()
	}
	return result, nil
}

func each(object runtime.Object, do func(runtime.Object) error) error {
	if meta.IsListType(object) {
		return meta.EachListItem(object, do)
	}
	return do(object)
}

func (t table[T]) row(object runtime.Object) (metav1.TableRow, error) {
	typed, ok := object.(T)
	if !ok {
		return metav1.TableRow{}, fmt.Errorf("a %T has no place in a table of %T", object, *new(T))
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return metav1.TableRow{}, err
	}
	cells := []any{m.GetName()}
	for _, c := range t.columns {
		cells = append(cells, c.cell(typed))
	}
	cells = append(cells, age(m.GetCreationTimestamp()))
	return metav1.TableRow{Cells: cells, Object: runtime.RawExtension{Object: object}}, nil
}

func (t table[T]) header() []metav1.TableColumnDefinition {
	header := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}}
	for _, c := range t.columns {
		d := metav1.TableColumnDefinition{Name: c.name, Type: c.kind}
		if c.wide {
			d.Priority = 1
		}
		header = append(header, d)
	}
	return append(header, metav1.TableColumnDefinition{Name: "Age", Type: "string"})
}

// age is how long ago something was, as kubectl writes it.
func age(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}
