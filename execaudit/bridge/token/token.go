package token

import (
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// Prefix is what the text of a token of any version begins with.
const Prefix = "lanyard-exec:"

// Limits of a token.
const (
	// MaxLifetime is the longest time from NotBefore to Expiry.
	MaxLifetime = 10 * time.Minute
	// MaxBytes is the length of the longest token's text.
	MaxBytes = len(head) + (maxRawBytes*8+5)/6
)

// Token is what a token says. All texts are of printable ASCII without spaces.
type Token struct {
	// Session is the exec session's ID; required.
	Session bridge.SessionID
	// Pod, Container and Node are where the token is good; all required.
	Pod             Pod
	Container, Node string
	// NotBefore and Expiry bound the time when it is good, Expiry itself excluded. In a token they are whole seconds in
	// UTC; Sign cuts off the rest.
	NotBefore, Expiry time.Time
	// Nonce makes the token good once; required, and never the same twice.
	Nonce [16]byte
	// Command is the Digest of the rest of the command.
	Command [32]byte
	// Requester is the Key's tag of the user who asked for this session, by which a webhook knows its own token again.
	// Nodes ignore it.
	Requester [16]byte
	// Unmarked says that the session is not to get the kernel's mark.
	Unmarked bool
}

// Pod identifies a pod.
type Pod struct {
	// UID as the node knows it: see PodUID. At most 64 bytes.
	UID string
	// Namespace has at most 63 bytes, Name 253.
	Namespace, Name string
}

// mirrorAnnotation is on the API server's copy of a static pod.
const mirrorAnnotation = "kubernetes.io/config.mirror"

// PodUID returns the UID that a pod's node knows it by, which is not the API server's for the mirror of a static pod:
// it is then the value of the annotation kubernetes.io/config.mirror.
//
// Source: kubelet 1.37. pkg/kubelet/config/common.go sets a static pod's annotation config.hash to its UID, whether
// that was in the manifest or made from it; pkg/kubelet/pod/mirror_client.go copies that value to config.mirror;
// pkg/kubelet/kuberuntime gives the same UID to the CRI, as the sandbox's and in the label io.kubernetes.pod.uid.
// A pod with the annotation that is nobody's mirror is deleted by its kubelet, and never run.
func PodUID(uid string, annotations map[string]string) string {
	if mirrored := annotations[mirrorAnnotation]; mirrored != "" {
		return mirrored
	}
	return uid
}

// Like reports whether an element of a command holds something like a token, at any place in it.
func Like(element string) bool { return strings.Contains(element, Prefix) }
