// Credprovider looks at credential provider configurations and plugins the way a kubelet will, without one.
//
//	credprovider validate /etc/kubernetes/credential-providers
//	credprovider explain --config FILE --image IMAGE [--pod FILE] [--service-account FILE] [--bin-dir DIR]
//	credprovider check-plugin PATH [--image IMAGE] [--token-file FILE] [-- ARGS]
//
// Exit codes: 0 all is well, 1 something was found, 2 usage, input or output, 3 (check-plugin) inconclusive: no rule is
// seen broken, and a rule could not be looked at, such as when the plugin gave no answer.
package main
