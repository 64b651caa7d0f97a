package runtime

import (
	"os"
	"path/filepath"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// writeFiles writes the files that every container of the pod sees.
func (b *sandbox) writeFiles() error {
	resolv, err := resolvConf(b.config.GetDnsConfig())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.dir, "resolv.conf"), resolv, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "hostname"), []byte(b.config.GetHostname()+"\n"), 0o644)
}

// resolvConf is the pod's own configuration, or the host's if the pod brings none.
func resolvConf(c *runtimeapi.DNSConfig) ([]byte, error) {
	if c == nil {
		b, err := os.ReadFile("/etc/resolv.conf")
		if os.IsNotExist(err) {
			return nil, nil
		}
		return b, err
	}
	var out strings.Builder
	line := func(word string, values ...string) {
		if len(values) > 0 {
			out.WriteString(word + " " + strings.Join(values, " ") + "\n")
		}
	}
	line("search", c.GetSearches()...)
	for _, server := range c.GetServers() {
		line("nameserver", server)
	}
	line("options", c.GetOptions()...)
	return []byte(out.String()), nil
}
