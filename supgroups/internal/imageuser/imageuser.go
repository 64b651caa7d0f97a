// Package imageuser reads the user of an image as runtimes report it to the kubelet.
package imageuser

import (
	"strconv"
	"strings"
)

// Split returns the user of config.User without its group: an ID when the part before the first colon is a number, else
// a name; nil and "" when there is none. The range of an ID is not checked here: an ID outside it is refused when it
// comes back in a request.
func Split(user string) (uid *int64, username string) {
	username, _, _ = strings.Cut(user, ":")
	if n, err := strconv.ParseInt(username, 10, 64); err == nil {
		return &n, ""
	}
	return nil, username
}
