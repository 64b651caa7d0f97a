// Package restconfig is the bridge between execcredential and client-go's rest.Config, in a module of its own, because
// client-go is a hundred packages that nothing else here needs.
//
//   - [LoadExecCredential] and [LoadExecCredentialFromEnv] are the KEP's helpers for plugin authors;
//   - [ToREST] and [FromREST] turn cluster information into a rest.Config and back;
//   - [Wrap] gives a rest.Config that names an exec plugin the transport of this SDK, so that clients and informers of
//     client-go log in through it.
//
// The specification is KEP-541, Provider input format. A plugin that does not call the cluster needs pluginsdk only.
package restconfig
