// Package kubeconfig reads and writes the part of a kubeconfig that decides how a client logs in, as kubectl reads it.
//
// [Load] reads files and merges them, [Parse] reads one document. [Config.Login] takes a context to the cluster it
// names, with a certificate authority file inlined and the caller's overrides applied, and to the exec plugin of its
// user, unless something static wins.
//
//	config, err := kubeconfig.Load(kubeconfig.Paths()...)
//	login, err := config.Login("", kubeconfig.Overrides{})
//
// A kubeconfig names programs that will run. One from somebody else is a program from somebody else: set a policy.
package kubeconfig
