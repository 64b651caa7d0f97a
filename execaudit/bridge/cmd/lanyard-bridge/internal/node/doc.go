// Package node is the commands `lanyard-bridge node`, the daemon of a node, and `lanyard-bridge sessions`.
package node
