package supgroups

import "github.com/lanyard-dev/lanyard/supgroups/internal/imageuser"

// ThroughKubelet returns r as the kubelet sends it to a runtime: when no user is asked for, the kubelet fills in the
// image's, as an ID or as a name, without the group part of the image's user. The primary group then comes from the
// image's passwd file, and a runAsGroup without runAsUser is valid in a pod, though not in CRI.
//
// The result's ImageUser is "" and its slices are those of r.
func (r Request) ThroughKubelet() Request {
	image := r.ImageUser
	r.ImageUser = ""
	if r.RunAsUser != nil || r.RunAsUsername != "" {
		return r
	}
	r.RunAsUser, r.RunAsUsername = imageuser.Split(image)
	if r.RunAsUser == nil && r.RunAsUsername == "" {
		r.RunAsUser = new(int64)
	}
	return r
}
