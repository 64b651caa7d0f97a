package transport_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
	"github.com/lanyard-dev/lanyard/execcredential/transport"
)

func TestUnavailableStandardInput(t *testing.T) {
	_, terminal := openTerminal(t)
	run := func(t *testing.T, mode execcredential.InteractiveMode) (string, error) {
		t.Helper()
		plugin := loginlab.NewPlugin(t, `printf %s "$KUBERNETES_EXEC_INFO" >"$LAB/info"`)
		plugin.Status("t", "", "", time.Time{})
		config := plugin.Config()
		config.InteractiveMode, config.StdinUnavailable, config.StdinUnavailableMessage = mode, true, "apply -f -"
		_, err := newSource(t, newPool(t, transport.Options{Terminal: transport.NewTerminal(terminal)}), config).Credential(t.Context())
		return string(plugin.File("info")), err
	}
	for _, mode := range []execcredential.InteractiveMode{execcredential.InteractiveNever, execcredential.InteractiveIfAvailable} {
		t.Run("ECR-5 ECR-29 "+string(mode)+" runs without it", func(t *testing.T) {
			if info, err := run(t, mode); err != nil || !strings.Contains(info, `"interactive":false`) {
				t.Errorf("plugin was told %s, %v, want interactive false", info, err)
			}
		})
	}
	t.Run("ECR-5 ECR-29 Always is not run, and the error says why", func(t *testing.T) {
		info, err := run(t, execcredential.InteractiveAlways)
		var interactive *transport.InteractiveError
		if !errors.As(err, &interactive) || !errors.Is(err, transport.ErrClaimed) || interactive.By != "apply -f -" || info != "" {
			t.Errorf("Credential = %v, plugin was told %q, want ErrClaimed by apply -f - and no run", err, info)
		}
	})
}
