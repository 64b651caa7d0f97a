package tokens

import (
	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/apimachinery/pkg/types"
)

// claims are those of a service account token, named as Kubernetes names them.
type claims struct {
	jwt.Claims
	Private private `json:"kubernetes.io"`
}

// private says whose token it is and what it dies with.
type private struct {
	Namespace      string     `json:"namespace"`
	ServiceAccount reference  `json:"serviceaccount"`
	Pod            *reference `json:"pod,omitempty"`
	Secret         *reference `json:"secret,omitempty"`
	Node           *reference `json:"node,omitempty"`
}

// reference names an object. The UID keeps a token from passing to a later object of the same name.
type reference struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}
