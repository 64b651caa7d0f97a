// Package provider answers the question of a pull: which credentials are there for this image and this pod?
//
//	pool, err := provider.Open(configPath, binDir, provider.Options{Accounts: accounts, Tokens: tokens, Gates: gates})
//	image, err := credprovider.ParseImage("registry.example.io/team/app:1")
//	credentials, err := pool.Lookup(ctx, image.Repository, provider.Pod{
//		Namespace: "team", Name: "app-1", UID: uid, ServiceAccount: "app",
//	})
//
// A [Pool] matches the image, fetches the service account, selects its annotations, gets a token, looks into its cache
// and, when it must, runs the plugin: once for equal requests at one time. Providers that have to run do so side by
// side, and their answers are returned in the order in which a pull tries them.
//
// A kubelet's keyring wants credentials and a flag, and treats every error as "no credentials". The adapter is
//
//	func (k keyring) Lookup(image string) ([]credentialprovider.TrackedAuthConfig, bool) {
//		found, err := k.pool.Lookup(k.ctx, image, k.pod) // report err as an event
//		...
//	}
//
// where Credential.Account, when set, is the source's ServiceAccount, and a nil Account is a nil source.
package provider
