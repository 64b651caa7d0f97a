package front

// ConfigPaths is oci.ConfigPaths, which describes it.
func ConfigPaths(exe string) []string {
	flat := []byte(exe)
	if len(flat) > 0 && flat[0] == '/' {
		flat = flat[1:]
	}
	for i, c := range flat {
		if c == '/' {
			flat[i] = '-'
		}
	}
	return []string{exe + ".json", "/run/lanyard/" + string(flat) + ".json"}
}

// deleted is what the kernel puts behind the path of a program that was replaced by a newer one in this moment.
const deleted = " (deleted)"

// Executable is the path in the link /proc/self/exe.
func Executable(link string) string {
	if at := len(link) - len(deleted); at > 0 && link[at:] == deleted {
		return link[:at]
	}
	return link
}
