// Package install is the commands `lanyard-bridge install`, `uninstall` and `status`: the wrapper in the place of a
// node's OCI runtime, and away from there.
//
// # Order
//
// The wrapper and its configuration are in place before anything names them; what is about to be changed is written
// down before it is. A handler is told as active (in installed.json, which the node's daemon reads) once the running
// runtime has answered that it uses the wrapper, or once the bind mount is seen by it, and not before.
//
// Going away is the reverse: nobody is told of the handler any more, the configuration becomes what it was, and the
// wrapper passes every call through. Its file goes once the runtime has answered that it does not use it, and no
// container or pod remembers it: containers remember their runtime's path from their creation, and a pod gives what it
// remembers to every container that is made in it later.
//
// A handler of our own (mode runtimeclass) stays in the configuration until no pod has it, since containerd looks a
// pod's handler up for each exec and each container.
//
// # Bind mounts
//
// The real runtime's directory is bound below /run/lanyard/real first, in a peer group of its own: the file would be
// covered there as well otherwise, as in any peer of the mount it comes from, and the wrapper would execute itself. It
// is the directory, not the file: runc 1.2 and later start themselves again from an overlay over their directory.
package install
