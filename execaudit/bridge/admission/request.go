package admission

import (
	"encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// ErrMalformed: the object of a request is not what its resource has.
var ErrMalformed = errors.New("malformed request")

// Request is an admission request, taken apart.
type Request struct {
	// UID is that of the round trip between API server and webhook.
	UID string
	// Source is what the request begins; empty for something else, which a webhook's rules sent by mistake.
	Source sessions.Source
	// Namespace and Name are the pod's.
	Namespace, Name string
	// Container is as the caller named it, empty where he did not. For ephemeral containers it is the first new one.
	Container string
	// Command is that of an exec, as it stands now.
	Command []string
	TTY     bool
	// User is who asks, as the API server says it.
	User token.User
	// DryRun says that nothing will come of it.
	DryRun bool

	added   []addedContainer
	podUID  string
	podNode string
}

// addedContainer is a new ephemeral container.
type addedContainer struct {
	index  int
	name   string
	hasEnv bool
	// values are those that the container has for the session's variable.
	values []string
}

// Read takes a request apart. Its error is [ErrMalformed], for an object that cannot be decoded; what else is then known
// of the request is returned nevertheless.
func Read(r *admissionv1.AdmissionRequest) (Request, error) {
	req := Request{
		UID: string(r.UID), Namespace: r.Namespace, Name: r.Name, User: userOf(r),
		DryRun: r.DryRun != nil && *r.DryRun,
	}
	if r.Resource.Group != "" || r.Resource.Resource != "pods" {
		return req, nil
	}
	var err error
	switch connect := r.Operation == admissionv1.Connect; {
	case connect && r.SubResource == "exec":
		req.Source = sessions.SourceExec
		var o corev1.PodExecOptions
		err = decode(r.Object.Raw, &o)
		req.Container, req.Command, req.TTY = o.Container, o.Command, o.TTY
	case connect && r.SubResource == "attach":
		req.Source = sessions.SourceAttach
		var o corev1.PodAttachOptions
		err = decode(r.Object.Raw, &o)
		req.Container, req.TTY = o.Container, o.TTY
	case connect && r.SubResource == "portforward":
		req.Source = sessions.SourcePortForward
	case r.Operation == admissionv1.Update && r.SubResource == "ephemeralcontainers":
		req.Source = sessions.SourceEphemeralContainer
		err = req.readEphemeral(r)
	}
	return req, err
}

func decode(raw []byte, to any) error {
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%w: the object is not a %T in JSON", ErrMalformed, to)
	}
	return nil
}

func userOf(r *admissionv1.AdmissionRequest) token.User {
	u := token.User{Name: r.UserInfo.Username, UID: r.UserInfo.UID, Groups: r.UserInfo.Groups}
	if len(r.UserInfo.Extra) > 0 {
		u.Extra = make(map[string][]string, len(r.UserInfo.Extra))
		for key, values := range r.UserInfo.Extra {
			u.Extra[key] = values
		}
	}
	return u
}
