package containerdrig

import (
	"fmt"
	"path/filepath"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// FindDebian returns a configuration with the programs of Debian's packages containerd and runc, which `make parts`
// fetches: version 1.6 in Debian 12.
func FindDebian(dir string) (Config, error) {
	c := Config{Dir: dir, Old: true}
	for program, path := range map[string]*string{
		"debian/containerd": &c.Containerd, "debian/containerd-shim-runc-v2": &c.Shim, "debian/ctr": &c.Ctr, "debian/runc": &c.Runc,
	} {
		var err error
		if *path, err = parts.Find(program); err != nil {
			return c, err
		}
	}
	return c, nil
}

// oldSettings are settings in version 2 of containerd's configuration.
func oldSettings(c Config) string {
	return fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
imports = [%[7]s]
[grpc]
  address = %[3]q
[ttrpc]
  address = %[4]q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[5]q
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  BinaryName = %[6]q
`, filepath.Join(c.Dir, "root"), filepath.Join(c.Dir, "state"), filepath.Join(c.Dir, "c.sock"), filepath.Join(c.Dir, "c.sock.ttrpc"), PauseImage, c.Runc, c.imports()) + c.Settings
}
