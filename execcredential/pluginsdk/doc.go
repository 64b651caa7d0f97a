// Package pluginsdk makes a function a credential plugin.
//
//	func main() {
//		os.Exit(pluginsdk.Main(func(ctx context.Context, request pluginsdk.Request) (execcredential.Status, error) {
//			return execcredential.Status{Token: redact.New(login(ctx))}, nil
//		}, pluginsdk.Options{}))
//	}
//
// [Main] reads KUBERNETES_EXEC_INFO, calls the function, and answers in the version that it was asked in. With a
// [Cache], parallel clients share one login across processes: a client's own cache ends with the client.
package pluginsdk
