package kinds

import (
	"fmt"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// addParameters teaches the scheme to read the options of connections from a query.
func addParameters(scheme *runtime.Scheme) error {
	for _, p := range []struct {
		into any
		read func(url.Values, any) error
	}{
		{(*PodExecOptions)(nil), reads(execWithEnv)},
		{(*corev1.PodExecOptions)(nil), reads(exec)},
		{(*corev1.PodAttachOptions)(nil), reads(attach)},
		{(*corev1.PodLogOptions)(nil), reads(log)},
		{(*corev1.PodPortForwardOptions)(nil), reads(portForward)},
		{(*corev1.NodeProxyOptions)(nil), reads(nodeProxy)},
	} {
		err := scheme.AddConversionFunc((*url.Values)(nil), p.into, func(in, out any, _ conversion.Scope) error {
			return p.read(*in.(*url.Values), out)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reads turns a function over a query into one over any object; the scheme calls it with the type it is added for.
func reads[T any](read func(*query, *T)) func(url.Values, any) error {
	return func(values url.Values, out any) error {
		q := &query{values: values}
		read(q, out.(*T))
		return q.err
	}
}

func execWithEnv(q *query, o *PodExecOptions) {
	o.Stdin, o.Stdout, o.Stderr, o.TTY = q.flag("stdin"), q.flag("stdout"), q.flag("stderr"), q.flag("tty")
	o.Container, o.Command = q.text("container"), q.values["command"]
	o.Env, o.faults = execaudit.DecodeValues(q.values, execaudit.Limits{})
}

func exec(q *query, o *corev1.PodExecOptions) {
	o.Stdin, o.Stdout, o.Stderr, o.TTY = q.flag("stdin"), q.flag("stdout"), q.flag("stderr"), q.flag("tty")
	o.Container, o.Command = q.text("container"), q.values["command"]
}

func attach(q *query, o *corev1.PodAttachOptions) {
	o.Stdin, o.Stdout, o.Stderr, o.TTY = q.flag("stdin"), q.flag("stdout"), q.flag("stderr"), q.flag("tty")
	o.Container = q.text("container")
}

func log(q *query, o *corev1.PodLogOptions) {
	o.Container = q.text("container")
	o.Follow, o.Previous, o.Timestamps = q.flag("follow"), q.flag("previous"), q.flag("timestamps")
	o.SinceSeconds, o.TailLines, o.LimitBytes = q.count("sinceSeconds"), q.count("tailLines"), q.count("limitBytes")
}

func portForward(q *query, o *corev1.PodPortForwardOptions) {
	for _, text := range q.values["ports"] {
		port, err := strconv.ParseInt(text, 10, 32)
		q.fault("ports", err)
		o.Ports = append(o.Ports, int32(port))
	}
}

func nodeProxy(q *query, o *corev1.NodeProxyOptions) { o.Path = q.text("path") }

// query reads parameters and keeps the first fault.
type query struct {
	values url.Values
	err    error
}

func (q *query) text(name string) string { return q.values.Get(name) }

// flag is false when absent, "0" or "false", and true for anything else, a bare name included, as in Kubernetes.
func (q *query) flag(name string) bool {
	values, present := q.values[name]
	return present && (len(values) == 0 || values[0] != "0" && values[0] != "false")
}

// count is nil when absent.
func (q *query) count(name string) *int64 {
	text := q.values.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	q.fault(name, err)
	return &n
}

func (q *query) fault(name string, err error) {
	if err != nil && q.err == nil {
		q.err = fmt.Errorf("parameter %q: %w", name, err)
	}
}
