package bridge

import (
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
)

// Options say what a rig is like. The zero value is one node with the bridge in mode drop-in.
type Options struct {
	// Dir holds everything that the rig writes. It must exist, and its path be short: sockets are in it. The caller
	// removes it. If empty, a new one is made, which Stop removes.
	Dir string
	// Path has the webhook know its caller by a secret path, as where nobody can configure the API server; else it is by
	// the API server's certificate.
	Path bool
	// Before is called when the cluster runs, and nothing of the bridge does; nil does nothing.
	Before func(*Rig) error
	// Tell is told what is being started; nil discards it.
	Tell func(what string)
}

// programs are what a rig runs beside the cluster's.
var programs = []string{"lanyard-bridge", "lanyard-oci"}

// Need skips the test with the reason where a rig cannot run: a program was not built, the test does not run as root.
func Need(t kubernetes.TB) {
	t.Helper()
	kubernetes.Need(t, programs...)
}

// find returns the paths of the bridge's programs.
func find() (bridge, oci string, err error) {
	if bridge, err = parts.Find("lanyard-bridge"); err != nil {
		return "", "", err
	}
	oci, err = parts.Find("lanyard-oci")
	return bridge, oci, err
}
