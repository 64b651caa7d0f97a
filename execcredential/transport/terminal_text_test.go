package transport_test

import (
	"fmt"
	"io/fs"
	"testing"
	"unicode"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/kubeconfig"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
	"github.com/lanyard-dev/lanyard/redact"
)

func TestTextsCannotDriveATerminal(t *testing.T) {
	const escape = "x\x1b[31m\u009b31m\r\u202e"
	missing := &fs.PathError{Op: "open", Path: escape, Err: fs.ErrNotExist}
	for name, value := range map[string]any{
		"an environment entry": execcredential.EnvVar{Name: escape, Value: redact.New(escape)},
		"a configuration": execcredential.ExecConfig{
			Command: escape, Args: redact.Texts(escape), Env: []execcredential.EnvVar{{Name: escape}}, APIVersion: escape, InstallHint: escape,
			InteractiveMode: escape, StdinUnavailableMessage: escape, Policy: execcredential.Policy{Type: escape, Commands: []string{escape}},
			Impersonate: execcredential.Impersonation{Name: escape, UID: escape, Groups: []string{escape}, Extra: map[string][]string{escape: {escape}}},
		},
		"a policy's refusal":        &execcredential.PolicyError{Command: escape, Path: "/" + escape, Policy: escape},
		"a wait":                    &transport.WaitError{Command: escape, Err: fs.ErrNotExist},
		"a claim":                   &transport.InteractiveError{Mode: execcredential.InteractiveAlways, By: "y\x1b[31m\r", Err: transport.ErrClaimed},
		"a file that is missing":    &kubeconfig.FileError{Path: escape, Err: missing},
		"an entry":                  &kubeconfig.EntryError{List: "users", Name: escape, Err: kubeconfig.ErrNoEntry},
		"a resolved login's String": &kubeconfig.Resolved{Context: escape, Cluster: execcredential.Cluster{Server: escape}, Method: kubeconfig.MethodExec},
	} {
		t.Run("ECR-28 "+name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%s"} {
				for _, r := range fmt.Sprintf(verb, value) {
					if !unicode.IsPrint(r) {
						t.Fatalf("%s of %s holds %U", verb, name, r)
					}
				}
			}
		})
	}
}
