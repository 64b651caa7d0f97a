package reviews

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// subject is the user that a review is about.
func subject(spec authorizationv1.SubjectAccessReviewSpec) user.Info {
	u := &user.DefaultInfo{Name: spec.User, UID: spec.UID, Groups: spec.Groups}
	for key, values := range spec.Extra {
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[key] = values
	}
	return u
}

// attributes is a review's question as the authorizer takes it; one of resource and path is nil.
func attributes(u user.Info, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) authorizer.Attributes {
	if resource == nil {
		return authorizer.AttributesRecord{User: u, Verb: path.Verb, Path: path.Path}
	}
	a := authorizer.AttributesRecord{
		User: u, Verb: resource.Verb, Namespace: resource.Namespace,
		APIGroup: resource.Group, APIVersion: version(resource.Version),
		Resource: resource.Resource, Subresource: resource.Subresource, Name: resource.Name,
		ResourceRequest: true,
	}
	if s := resource.FieldSelector; s != nil {
		a.FieldSelectorRequirements, a.FieldSelectorParsingErr = fieldRequirements(s)
	}
	if s := resource.LabelSelector; s != nil {
		a.LabelSelectorRequirements, a.LabelSelectorParsingErr = labelRequirements(s)
	}
	return a
}

func version(v string) string {
	if v == "" {
		return "*"
	}
	return v
}

// fieldRequirements drops what selectors of requests cannot say: leaving a limit out can only lead to less rights.
func fieldRequirements(s *authorizationv1.FieldSelectorAttributes) (fields.Requirements, error) {
	if s.RawSelector != "" {
		parsed, err := fields.ParseSelector(s.RawSelector)
		if err != nil {
			return nil, err
		}
		return parsed.Requirements(), nil
	}
	var found fields.Requirements
	for _, r := range s.Requirements {
		switch {
		case r.Operator == metav1.FieldSelectorOpIn && len(r.Values) == 1:
			found = append(found, fields.Requirement{Operator: selection.In, Field: r.Key, Value: r.Values[0]})
		case r.Operator == metav1.FieldSelectorOpNotIn && len(r.Values) == 1:
			found = append(found, fields.Requirement{Operator: selection.NotIn, Field: r.Key, Value: r.Values[0]})
		}
	}
	return found, nil
}

func labelRequirements(s *authorizationv1.LabelSelectorAttributes) (labels.Requirements, error) {
	if s.RawSelector != "" {
		parsed, err := labels.Parse(s.RawSelector)
		if err != nil {
			return nil, err
		}
		found, _ := parsed.Requirements()
		return found, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: s.Requirements})
	if err != nil {
		return nil, err
	}
	found, _ := selector.Requirements()
	return found, nil
}
