package fields

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Reason is the reason of a pod's failure, of its event and of the rejection's metric.
const Reason = "PodFieldNotSupported"

// Refusal is a field that is set and would be dropped.
type Refusal struct {
	Path string // from the pod, with indices: spec.containers[0].livenessProbe
	Why  string
}

// String names the field and the rule; it holds no value of the pod's.
func (r Refusal) String() string { return r.Path + ": not supported by this kubelet: " + r.Why }

// Check returns the fields and annotations of a pod that the kubelet would drop, in the order of the API's types, nil
// for none. The pod is not changed.
func Check(pod *corev1.Pod) []Refusal {
	c := check{pod: &pod.Spec}
	c.value(reflect.ValueOf(&pod.Spec).Elem(), place{shown: "spec"}, nil)
	return append(c.refusals, checkAnnotations(pod)...)
}

// maxNamed and maxMessageBytes bound a message: an event's may have 1 KiB.
const (
	maxNamed        = 8
	maxMessageBytes = 1000
)

// Message is the message of a pod that is refused for the fields: each by name, as many as fit.
func Message(refusals []Refusal) string {
	var out strings.Builder
	for i, r := range refusals {
		more := fmt.Sprintf("and %d more", len(refusals)-i)
		if i == maxNamed || out.Len()+len(r.String())+len("; ")*2+len(more) > maxMessageBytes {
			out.WriteString(more)
			return out.String()
		}
		out.WriteString(r.String())
		if i < len(refusals)-1 {
			out.WriteString("; ")
		}
	}
	return out.String()
}

// place is where a value stands: for people, and for the table.
type place struct{ shown, path string }

func (p place) field(name string) place {
	return place{p.shown + "." + name, strings.TrimPrefix(p.path+"."+name, ".")}
}

func (p place) index(i int) place { return place{fmt.Sprintf("%s[%d]", p.shown, i), p.path + "[]"} }

type check struct {
	pod       *corev1.PodSpec
	container *corev1.Container
	refusals  []Refusal
}

func (c *check) refuse(at place, why string) {
	c.refusals = append(c.refusals, Refusal{at.shown, why})
}

// value judges v by its row or, where it has none, what is in it. parent is the struct that v is a field of.
func (c *check) value(v reflect.Value, at place, parent any) {
	if r, there := row(at.path); there {
		c.judge(r, v, at, parent)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.value(v.Elem(), at, parent)
		}
	case reflect.Struct:
		c.fields(v, at)
	case reflect.Slice:
		for i := range v.Len() {
			c.value(v.Index(i), at.index(i), parent)
		}
	default:
		if !v.IsZero() {
			c.refuse(at, "it is not known")
		}
	}
}

func (c *check) fields(v reflect.Value, at place) {
	if container, ok := v.Addr().Interface().(*corev1.Container); ok {
		c.container = container
		defer func() { c.container = nil }()
	}
	parent := v.Interface()
	for i := range v.NumField() {
		below := at
		if name := jsonName(v.Type().Field(i)); name != "" {
			below = at.field(name)
		}
		c.value(v.Field(i), below, parent)
	}
}

// jsonName returns a field's name in JSON, "" for a struct whose fields are its parent's.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// judge applies a row to a field that may be set.
func (c *check) judge(r Row, v reflect.Value, at place, parent any) {
	if !set(v) || r.Verdict == Honoured || r.Verdict == Ignored {
		return
	}
	if r.Verdict == Refused {
		c.refuse(at, r.Why)
		return
	}
	in := scope{c.pod, c.container, parent}
	v = reflect.Indirect(v)
	switch v.Kind() {
	case reflect.Map:
		c.keys(r, v, at, in)
	case reflect.Slice:
		for i := range v.Len() {
			if !r.allows(fmt.Sprint(v.Index(i)), in) {
				c.refuse(at.index(i), r.Why)
			}
		}
	default:
		if !r.allows(fmt.Sprint(v), in) {
			c.refuse(at, r.Why)
		}
	}
}

func (c *check) keys(r Row, m reflect.Value, at place, in scope) {
	keys := map[string]bool{}
	for _, key := range m.MapKeys() {
		keys[key.String()] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !r.allows(key, in) {
			c.refuse(place{fmt.Sprintf("%s[%q]", at.shown, key), at.path}, r.Why)
		}
	}
}

// set reports whether a field says anything: a pointer that points, a list or map that is not empty, a scalar that is
// not zero.
func set(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil()
	case reflect.Slice, reflect.Map:
		return v.Len() > 0
	}
	return !v.IsZero()
}
