// Package pluginsdk makes a credential provider plugin of a function.
//
//	func main() {
//		os.Exit(pluginsdk.Main(func(ctx context.Context, r credprovider.Request) (credprovider.Response, error) {
//			password, err := exchange(ctx, r.ServiceAccountToken.Reveal())
//			return credprovider.Response{
//				CacheKeyType: credprovider.KeyRegistry,
//				Auth: map[string]credprovider.AuthConfig{
//					"registry.example.io": {Username: "token", Password: redact.New(password)},
//				},
//			}, err
//		}))
//	}
//
// Package check runs any plugin through the protocol.
package pluginsdk
