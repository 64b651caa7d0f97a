// Package keys is the command `lanyard-bridge keys`: it makes and rotates the webhook's keys.
//
// The webhook has private keys, the preferred one first, and signs with the first that a node's Lease names. Nodes have
// public keys and take tokens of any of them. A new key signs only when every replica of the webhook has it, since one
// without it would refuse another's token. So a rotation has no gap in whatever order the parts learn of it, if a key
// is taken away last where it was given first: rotate gives a new key to both, retire takes the old private key from the
// webhook once every node has the new one, and prune takes the old public key from the nodes once no token of it can be
// under way.
package keys
