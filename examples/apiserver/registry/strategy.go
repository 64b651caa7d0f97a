package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
)

// strategy answers what the generic store asks about a resource, by the resource's hooks.
type strategy[T runtime.Object] struct {
	runtime.ObjectTyper
	resource resource[T]
}

var (
	_ rest.RESTCreateStrategy = strategy[runtime.Object]{}
	_ rest.RESTUpdateStrategy = strategy[runtime.Object]{}
	_ rest.RESTDeleteStrategy = strategy[runtime.Object]{}
)

func (s strategy[T]) GenerateName(base string) string {
	return names.SimpleNameGenerator.GenerateName(base)
}
func (s strategy[T]) NamespaceScoped() bool                         { return s.resource.namespaced }
func (s strategy[T]) Canonicalize(runtime.Object)                   {}
func (s strategy[T]) AllowCreateOnUpdate(context.Context) bool      { return false }
func (s strategy[T]) AllowUnconditionalUpdate(context.Context) bool { return true }

func (s strategy[T]) PrepareForCreate(_ context.Context, object runtime.Object) {
	if s.resource.fill != nil {
		s.resource.fill(object.(T))
	}
}

func (s strategy[T]) Validate(_ context.Context, object runtime.Object) field.ErrorList {
	faults := s.validateName(object)
	if s.resource.validate != nil {
		faults = append(faults, s.resource.validate(object.(T))...)
	}
	return faults
}

func (s strategy[T]) validateName(object runtime.Object) field.ErrorList {
	m, err := meta.Accessor(object)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
	}
	rule := s.resource.validName
	if rule == nil {
		rule = validation.NameIsDNSSubdomain
	}
	var faults field.ErrorList
	for _, problem := range rule(m.GetName(), false) {
		faults = append(faults, field.Invalid(field.NewPath("metadata", "name"), m.GetName(), problem))
	}
	return faults
}

func (s strategy[T]) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

func (s strategy[T]) PrepareForUpdate(_ context.Context, updated, old runtime.Object) {
	if s.resource.keep != nil {
		s.resource.keep(updated.(T), old.(T))
	}
}

func (s strategy[T]) ValidateUpdate(_ context.Context, updated, old runtime.Object) field.ErrorList {
	var faults field.ErrorList
	if s.resource.validate != nil {
		faults = s.resource.validate(updated.(T))
	}
	if s.resource.validateUpdate != nil {
		faults = append(faults, s.resource.validateUpdate(updated.(T), old.(T))...)
	}
	return faults
}

func (s strategy[T]) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// statusStrategy is the strategy of the status subresource.
type statusStrategy[T runtime.Object] struct {
	strategy[T]
}

func (s statusStrategy[T]) PrepareForUpdate(_ context.Context, updated, old runtime.Object) {
	s.resource.keepForStatus(updated.(T), old.(T))
}

func (s statusStrategy[T]) ValidateUpdate(_ context.Context, updated, _ runtime.Object) field.ErrorList {
	if s.resource.validateStatus == nil {
		return nil
	}
	return s.resource.validateStatus(updated.(T))
}

// deletion returns the strategy, with graceful deletion when the resource has it.
func (r resource[T]) deletion(s strategy[T]) rest.RESTDeleteStrategy {
	if r.grace == nil {
		return s
	}
	return gracefulStrategy[T]{s}
}

type gracefulStrategy[T runtime.Object] struct {
	strategy[T]
}

var _ rest.RESTGracefulDeleteStrategy = gracefulStrategy[runtime.Object]{}

// CheckGracefulDelete implements rest.RESTGracefulDeleteStrategy. A client's own period counts, except that what needs
// no grace gets none.
func (s gracefulStrategy[T]) CheckGracefulDelete(_ context.Context, object runtime.Object, options *metav1.DeleteOptions) bool {
	seconds := s.resource.grace(object.(T))
	if options.GracePeriodSeconds != nil && seconds > 0 {
		seconds = max(*options.GracePeriodSeconds, 0)
	}
	options.GracePeriodSeconds = &seconds
	return true
}
