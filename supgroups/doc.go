// Package supgroups answers one question: as which user, and in which groups, does the first process of a container
// start?
//
// Three parties decide: the pod (runAsUser, runAsGroup, fsGroup, supplementalGroups), the image's configuration (its
// user string) and the image's own /etc/passwd and /etc/group. Under the policy Merge an image can put its process into
// groups that nobody asked for; under Strict it cannot. The specification is KEP-3619 (v1.35).
//
// One call gives the whole answer, with the origin of every group:
//
//	who, err := supgroups.Resolve(supgroups.Request{
//		RunAsUser:          &uid,
//		SupplementalGroups: []int64{60000},
//		Policy:             supgroups.PolicyMerge,
//	}, passwd, group)
//
// The package reads what it is given and touches nothing else. [Resolve] streams both files once, in constant memory
// whatever their size; a malformed row is skipped, counted and reported, and never read as ID 0.
//
// Use sub-package rootfs to read the files of an unpacked image without leaving it, cri to turn CRI messages into
// requests and results into OCI and CRI messages, kubelet to turn a pod into what the kubelet sends, and admission for
// the decisions of the kubelet and the API server. To know the groups of a process that already runs, read
// /proc/PID/status instead: this package predicts, it does not observe.
package supgroups
