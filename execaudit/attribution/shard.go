package attribution

import "hash/fnv"

// Shard returns the number of the shard, from 0 to n-1, that has a node. Events and journal records go to their node's
// shard, audit events to every shard, since an API server does not say which node it called. The answers of n Machines so
// fed are together those of one.
func Shard(node string, n int) int {
	if n <= 1 {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(node))
	return int(h.Sum32() % uint32(n))
}
