package login_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/ca"
	"github.com/lanyard-dev/lanyard/examples/login"
	"github.com/lanyard-dev/lanyard/examples/login/issuer"
)

func TestSecretsAreNotPrinted(t *testing.T) {
	const secret = "sesame"
	inBytes := fmt.Sprint([]byte(secret))
	for _, value := range []any{
		login.Request{User: "u", Password: secret},
		&login.Answer{Token: secret},
		login.Answer{Key: secret},
		issuer.User{Password: secret},
		ca.Pair{Key: []byte(secret)},
	} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("value", "value", value)
		printed := log.String() + fmt.Sprintf("%v %+v %#v %s %q %d %x", value, value, value, value, value, value, value)
		if strings.Contains(printed, secret) || strings.Contains(printed, strings.Trim(inBytes, "[]")) || strings.Contains(printed, fmt.Sprintf("%x", secret)) {
			t.Errorf("%T prints as %s", value, printed)
		}
	}
}
