package connect

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	genericrest "k8s.io/apiserver/pkg/registry/generic/rest"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Log is pods/log.
type Log struct {
	// Pods finds the pod.
	Pods Pods
}

var (
	_ rest.GetterWithOptions = (*Log)(nil)
	_ rest.StorageMetadata   = (*Log)(nil)
)

// New implements rest.Storage.
func (*Log) New() runtime.Object { return &corev1.Pod{} }

// Destroy implements rest.Storage.
func (*Log) Destroy() {}

// ProducesMIMETypes implements rest.StorageMetadata.
func (*Log) ProducesMIMETypes(string) []string { return []string{"text/plain"} }

// ProducesObject implements rest.StorageMetadata.
func (*Log) ProducesObject(string) any { return "" }

// NewGetOptions implements rest.GetterWithOptions.
func (*Log) NewGetOptions() (runtime.Object, bool, string) { return &corev1.PodLogOptions{}, false, "" }

// Get implements rest.GetterWithOptions.
func (l *Log) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	o, ok := options.(*corev1.PodLogOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T are not log options", options))
	}
	if err := readable(ctx); err != nil {
		return nil, err
	}
	pod, err := l.Pods.get(ctx, name)
	if err != nil {
		return nil, err
	}
	of, err := container(pod, o.Container)
	if err != nil {
		return nil, err
	}
	location, err := l.Pods.location(ctx, "containerLogs", pod, of, logQuery(o))
	if err != nil {
		return nil, err
	}
	return &genericrest.LocationStreamer{
		Location: location, Transport: l.Pods.Kubelets.transport, ContentType: "text/plain", Flush: o.Follow,
		ResponseChecker: genericrest.NewGenericHttpResponseChecker(corev1.Resource("pods/log"), name),
		RedirectChecker: genericrest.PreventRedirects,
	}, nil
}

func logQuery(o *corev1.PodLogOptions) url.Values {
	q := url.Values{}
	for name, set := range map[string]bool{"follow": o.Follow, "previous": o.Previous, "timestamps": o.Timestamps} {
		if set {
			q.Set(name, "true")
		}
	}
	for name, n := range map[string]*int64{"sinceSeconds": o.SinceSeconds, "tailLines": o.TailLines, "limitBytes": o.LimitBytes} {
		if n != nil {
			q.Set(name, strconv.FormatInt(*n, 10))
		}
	}
	return q
}
