// Package openapi holds the generated OpenAPI definitions of the kinds that the reference API server serves. Run
// `go generate ./apiserver/openapi` in this module after a change of the Kubernetes version.
package openapi

//go:generate go run k8s.io/kube-openapi/cmd/openapi-gen@v0.0.0-20260721132016-d427ff9ee9ad --output-dir . --output-pkg github.com/lanyard-dev/lanyard/examples/apiserver/openapi --output-file zz_generated.openapi.go --go-header-file header.txt --report-filename /dev/null k8s.io/api/core/v1 k8s.io/api/authentication/v1 k8s.io/api/authorization/v1 k8s.io/api/coordination/v1 k8s.io/api/rbac/v1 k8s.io/api/storage/v1 k8s.io/apimachinery/pkg/apis/meta/v1 k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version k8s.io/apimachinery/pkg/api/resource k8s.io/apimachinery/pkg/util/intstr
