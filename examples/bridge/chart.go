package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// Chart is the tree's Helm chart, loaded and rendered by Helm's own packages.
type Chart struct{ chart *chart.Chart }

// Release is one installation of the chart. The zero value has the chart's own values.
type Release struct {
	// Name is the release's; if empty, "lanyard".
	Name string
	// Namespace is the release's, which must exist before its objects are applied; if empty, [Namespace].
	Namespace string
	// Values override the chart's, as a values file of the user's does.
	Values map[string]any
	// Config is the cluster in which `lookup` finds what an earlier release made. If nil, it finds nothing, as under
	// `helm template`.
	Config *rest.Config
}

// Objects are what a release is made of, in the order in which Helm creates them.
type Objects []*unstructured.Unstructured

// ChartDir is the chart's directory in the checkout that the working directory is in.
func ChartDir() (string, error) {
	root, err := parts.Checkout()
	return filepath.Join(root, "deploy"), err
}

// LoadChart loads the chart from [ChartDir].
func LoadChart() (*Chart, error) {
	dir, err := ChartDir()
	if err != nil {
		return nil, err
	}
	loaded, err := loader.LoadDir(dir)
	return &Chart{loaded}, err
}

// Render returns the release's objects, and the notes that Helm shows when it is installed. Values that the chart's
// schema refuses are an error.
func (c *Chart) Render(r Release) (_ Objects, notes string, _ error) {
	values, err := chartutil.ToRenderValues(c.chart, r.Values, chartutil.ReleaseOptions{
		Name: cmp.Or(r.Name, "lanyard"), Namespace: cmp.Or(r.Namespace, Namespace), Revision: 1, IsInstall: true,
	}, nil)
	if err != nil {
		return nil, "", err
	}
	var rendering engine.Engine
	if r.Config != nil {
		rendering = engine.New(r.Config)
	}
	files, err := rendering.Render(c.chart, values)
	if err != nil {
		return nil, "", err
	}
	for name, text := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			notes = text
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, "", err
	}
	if len(hooks) > 0 {
		return nil, "", fmt.Errorf("%s: a hook, which Apply would not run", hooks[0].Path)
	}
	var objects Objects
	for _, m := range manifests {
		object := &unstructured.Unstructured{}
		if err := yaml.NewYAMLOrJSONDecoder(strings.NewReader(m.Content), 4<<10).Decode(object); err != nil && !errors.Is(err, io.EOF) {
			return nil, "", fmt.Errorf("%s: %w", m.Name, err)
		}
		objects = append(objects, object)
	}
	return objects, notes, nil
}

// Only returns the objects of the kinds, in the same order.
func (o Objects) Only(kinds ...string) Objects {
	return slices.DeleteFunc(slices.Clone(o), func(object *unstructured.Unstructured) bool {
		return !slices.Contains(kinds, object.GetKind())
	})
}

// Apply creates the objects, or changes those that are there to what is rendered. A field that the API server does not
// know is an error. Objects of a namespace without one of their own go into it.
func (o Objects) Apply(ctx context.Context, config *rest.Config, namespace string) error {
	return o.each(config, namespace, func(resource dynamic.ResourceInterface, object *unstructured.Unstructured) error {
		data, err := object.MarshalJSON()
		if err != nil {
			return err
		}
		_, err = resource.Patch(ctx, object.GetName(), "application/apply-patch+yaml", data, metav1.PatchOptions{
			FieldManager: "helm", FieldValidation: metav1.FieldValidationStrict, Force: new(true),
		})
		return err
	})
}

// Delete deletes the objects, the last first. One that is not there is passed over.
func (o Objects) Delete(ctx context.Context, config *rest.Config, namespace string) error {
	reversed := slices.Clone(o)
	slices.Reverse(reversed)
	return reversed.each(config, namespace, func(resource dynamic.ResourceInterface, object *unstructured.Unstructured) error {
		err := resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// each calls f with every object and the resource that it is one of, until the first error.
func (o Objects) each(config *rest.Config, namespace string, f func(dynamic.ResourceInterface, *unstructured.Unstructured) error) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(asked)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for _, object := range o {
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
		var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			resource = client.Resource(mapping.Resource).Namespace(cmp.Or(object.GetNamespace(), namespace))
		}
		if err := f(resource, object); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
	}
	return nil
}
