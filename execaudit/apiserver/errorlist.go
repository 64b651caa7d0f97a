package apiserver

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/lanyard-dev/lanyard/execaudit"
)

// ErrorList returns the execaudit.Faults in err as apimachinery's list, in the same order and with the texts that
// Kubernetes has for them, for an answer such as apierrors.NewInvalid makes. path is where the list of entries stands
// in its object; nil is the path env. nil for a nil error; an error without Faults becomes one of type InternalError.
func ErrorList(err error, path *field.Path) field.ErrorList {
	if err == nil {
		return nil
	}
	if path == nil {
		path = field.NewPath(execaudit.QueryParam)
	}
	faults := execaudit.FaultsOf(err)
	if faults == nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	list := make(field.ErrorList, len(faults))
	for i, fault := range faults {
		list[i] = fieldError(fault, path)
	}
	return list
}

func fieldError(fault *execaudit.Fault, path *field.Path) *field.Error {
	if fault.Index >= 0 {
		path = path.Index(fault.Index)
	}
	if fault.Field != "" {
		path = path.Child(fault.Field)
	}
	switch fault.Kind {
	case execaudit.FaultRequired:
		return field.Required(path, fault.Detail)
	case execaudit.FaultForbidden:
		return field.Forbidden(path, fault.Detail)
	case execaudit.FaultDuplicate:
		return field.Duplicate(path, fault.Name)
	case execaudit.FaultTooMany:
		return field.TooMany(path, fault.Count, fault.Limit)
	case execaudit.FaultTooLong:
		return field.TooLong(path, nil, fault.Limit)
	}
	if fault.Name == "" {
		return field.Invalid(path, field.OmitValueType{}, fault.Detail)
	}
	return field.Invalid(path, fault.Name, fault.Detail)
}
