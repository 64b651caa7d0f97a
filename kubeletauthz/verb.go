package kubeletauthz

// verb is a small number, so that Attributes stay small; verbNone is the empty verb.
type verb uint8

const (
	verbNone verb = iota
	verbGet
	verbCreate
	verbUpdate
	verbPatch
	verbDelete
)

// String is the verb as authorizers know it.
func (v verb) String() string {
	return [...]string{"", "get", "create", "update", "patch", "delete"}[v]
}

// verbOf maps an HTTP method, case sensitively. Methods without a verb, HEAD and OPTIONS among them, give verbNone,
// which only the verb "*" of an RBAC rule matches.
func verbOf(method string) verb {
	switch method {
	case "GET":
		return verbGet
	case "POST":
		return verbCreate
	case "PUT":
		return verbUpdate
	case "PATCH":
		return verbPatch
	case "DELETE":
		return verbDelete
	}
	return verbNone
}
