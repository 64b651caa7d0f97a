package kubeletauthz

const verbCreate = "create"

// verb maps an HTTP method, case sensitively. Methods without a verb, HEAD and OPTIONS among them, give "", which only the
// verb "*" of an RBAC rule matches.
func verb(method string) string {
	switch method {
	case "GET":
		return "get"
	case "POST":
		return verbCreate
	case "PUT":
		return "update"
	case "PATCH":
		return "patch"
	case "DELETE":
		return "delete"
	}
	return ""
}
