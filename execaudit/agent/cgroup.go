package agent

import "strings"

// ParseCgroup returns the container of a cgroup's path, as containerd and CRI-O name it, with the drivers of cgroupfs
// and of systemd:
//
//	/kubepods/burstable/podUID/ID
//	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope
//	/kubepods.slice/…/crio-ID.scope
//	/system.slice/containerd.service/kubepods-burstable-podUID.slice:cri-containerd:ID
//
// Cgroups below a container's are the container's: whoever is in it can make them, and name them as others are named,
// so the uppermost ID counts. A pod's sandbox is told as a container. CRI-O's crio-conmon-ID.scope is outside of the
// container, and so the host's. The result is Known, with or without an ID; for a path that does not begin with a slash
// it is the zero Container.
func ParseCgroup(path string) Container {
	if !strings.HasPrefix(path, "/") {
		return Container{}
	}
	c := Container{Known: true}
	for element := range strings.SplitSeq(path, "/") {
		if uid := podUID(element); uid != "" && c.PodUID == "" {
			c.PodUID = uid
		}
		if id := containerID(element); id != "" {
			c.ID = id
			break
		}
	}
	return c
}

// idBytes is the length of a container ID, in hexadecimal digits.
const idBytes = 64

// containerID returns the ID at the end of a cgroup's name: ID, PREFIX-ID.scope or SLICE:PREFIX:ID.
func containerID(name string) string {
	name = strings.TrimSuffix(name, ".scope")
	if len(name) < idBytes {
		return ""
	}
	prefix, id := name[:len(name)-idBytes], name[len(name)-idBytes:]
	if !hexadecimal(id) || prefix != "" && !strings.HasSuffix(prefix, "-") && !strings.HasSuffix(prefix, ":") {
		return ""
	}
	if strings.HasSuffix(prefix, "conmon-") {
		return ""
	}
	return id
}

func hexadecimal(text string) bool {
	for i := range len(text) {
		if c := text[i]; c-'0' > 9 && c-'a' > 5 {
			return false
		}
	}
	return true
}

const uuidForm = "00000000-0000-0000-0000-000000000000"

// podUID returns the UID in the name of a pod's cgroup: podUID, or with systemd …-podUID.slice, whose UID has
// underscores for hyphens. Of a pod of a file it is 32 digits without any. It is "" for any other name.
func podUID(name string) string {
	name, _, _ = strings.Cut(name, ":")
	systemd := strings.HasSuffix(name, ".slice")
	name = strings.TrimSuffix(name, ".slice")
	at := strings.LastIndex(name, "pod")
	if at < 0 || at > 0 && (!systemd || name[at-1] != '-') {
		return ""
	}
	uid := name[at+len("pod"):]
	if systemd {
		uid = strings.ReplaceAll(uid, "_", "-")
	}
	if len(uid) == 32 && hexadecimal(uid) {
		return uid
	}
	if len(uid) != len(uuidForm) {
		return ""
	}
	for i := range len(uid) {
		if (uuidForm[i] == '-') != (uid[i] == '-') || uid[i] != '-' && !hexadecimal(uid[i:i+1]) {
			return ""
		}
	}
	return uid
}
