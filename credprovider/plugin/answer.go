package plugin

import (
	"errors"
	"fmt"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// Check returns nil when the answer to a request of the provider may be used, wherever it comes from: a process, or a
// runner in this one, whose answer was never decoded and may leave APIVersion empty for the request's. maxOutput is the
// largest answer in bytes; zero or less is DefaultMaxOutput.
//
// The error is an *[Error] that quotes nothing of the answer. Its Kind is ErrVersion for an answer in another version
// than the provider's; ErrCacheKeyType; ErrOutputTooLarge; and ErrEcho for an answer that holds the request's token
// when the provider does not have CacheByToken, because it would be given to other pods. Upstream compares passwords
// alone and as a whole; here the token is refused in patterns, user names and passwords, and in parts of them.
//
// Source: KEP-4412, cacheType; Kubernetes 1.36, ExecPlugin.
func Check(config credprovider.Provider, request credprovider.Request, response credprovider.Response, maxOutput int64) error {
	kind, cause := fault(config, request, response, maxOutput)
	if kind == nil {
		return nil
	}
	return &Error{Provider: config.Name, Image: request.Image, Kind: kind, ExitCode: -1, Err: cause}
}

func fault(config credprovider.Provider, request credprovider.Request, response credprovider.Response, maxOutput int64) (kind, cause error) {
	if maxOutput <= 0 {
		maxOutput = DefaultMaxOutput
	}
	if response.APIVersion != "" && response.APIVersion != config.APIVersion {
		return ErrVersion, fmt.Errorf("the answer is not in %q", config.APIVersion)
	}
	if _, err := credprovider.BaseKey(response.CacheKeyType, ""); err != nil {
		return ErrCacheKeyType, errors.New("want Image, Registry or Global") // without the value, which is the plugin's text
	}
	if size := sizeOf(response); size > maxOutput {
		return ErrOutputTooLarge, fmt.Errorf("%d bytes, the limit is %d", size, maxOutput)
	}
	token := config.TokenAttributes
	if (token == nil || token.CacheType != credprovider.CacheByToken) && response.Holds(request.ServiceAccountToken) {
		return ErrEcho, nil
	}
	return nil, nil
}

// perCredential is what a credential takes in JSON besides its texts, at least: "":{},
const perCredential = 6 // bytes

// sizeOf returns the bytes that the answer's credentials take.
func sizeOf(response credprovider.Response) int64 {
	var size int64
	for pattern, auth := range response.Auth {
		size += int64(len(pattern)+len(auth.Username)+len(auth.Password.Reveal())) + perCredential
	}
	return size
}
