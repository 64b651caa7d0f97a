package middleware

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/authorize"
)

// The bodies are the kubelet's, byte for byte: only that of a refused question ends in a line break, and none tells a
// cause.
const unauthorized = "Unauthorized"

func forbidden(user authorize.User, attributes kubeletauthz.Attributes) string {
	return fmt.Sprintf("Forbidden (user=%s, verb=%s, resource=%s, subresource(s)=%v)\n",
		user.Name, attributes.Verb(), attributes.At(0).Resource, attributes.Subresources())
}

// fault names the question that was not answered.
func fault(user authorize.User, attributes kubeletauthz.Attributes, err error) string {
	asked := attributes.At(0)
	var unanswered *authorize.ReviewError
	if errors.As(err, &unanswered) {
		asked = unanswered.Attribute
	}
	return fmt.Sprintf("Authorization error (user=%s, verb=%s, resource=%s, subresource=%s)",
		user.Name, asked.Verb, asked.Resource, asked.Subresource)
}

// refuse says plain text, because a body contains a user's name, which anybody may have chosen.
func refuse(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}
