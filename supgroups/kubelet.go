package supgroups

import (
	"strconv"
	"strings"
)

// ThroughKubelet returns r as it reaches a runtime from the kubelet: when no user is asked for, the kubelet fills in the
// image's, as an ID or as a name, and the group part of the image's user is lost on the way. So the primary group then
// comes from the image's passwd file, and a runAsGroup without runAsUser is valid in a pod though not in CRI.
//
// The result's ImageUser is "" and its slices are those of r.
func (r Request) ThroughKubelet() Request {
	image := r.ImageUser
	r.ImageUser = ""
	if r.RunAsUser != nil || r.RunAsUsername != "" {
		return r
	}
	r.RunAsUser, r.RunAsUsername = SplitImageUser(image)
	if r.RunAsUser == nil && r.RunAsUsername == "" {
		r.RunAsUser = new(int64)
	}
	return r
}

// SplitImageUser returns what a runtime reports to the kubelet about an image's user: its ID when the part before the
// first colon is a number, else its name; nil and "" when there is none. An ID is not checked against MaxID here: it is
// refused when it comes back in a request.
func SplitImageUser(s string) (uid *int64, username string) {
	user, _, _ := strings.Cut(s, ":")
	if n, err := strconv.ParseInt(user, 10, 64); err == nil {
		return &n, ""
	}
	return nil, user
}
