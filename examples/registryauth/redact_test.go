package registryauth_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/registryauth"
)

func TestSecretsAreNotPrinted(t *testing.T) {
	const secret = "sesame"
	inBytes := fmt.Sprint([]byte(secret))
	for _, value := range []any{
		registryauth.Login{Username: "u", Password: secret},
		registryauth.Request{Token: secret},
		&registryauth.Response{Password: secret},
	} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("value", "value", value)
		printed := log.String() + fmt.Sprintf("%v %+v %#v %s %q %d %x", value, value, value, value, value, value, value)
		if strings.Contains(printed, secret) || strings.Contains(printed, strings.Trim(inBytes, "[]")) || strings.Contains(printed, fmt.Sprintf("%x", secret)) {
			t.Errorf("%T prints as %s", value, printed)
		}
	}
}
