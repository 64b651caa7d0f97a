// Package bridge runs the bridge (execaudit/bridge) on a real Kubernetes, unmodified: the webhook, the wrapper in the
// place of runc, and the node's daemon, all as the programs that people install. It needs root, and the programs that
// `make parts kubernetes-parts` builds.
//
//	rig, err := bridge.Start(ctx, bridge.Options{})
//	…
//	defer rig.Stop()
//	pod, err := rig.Run(ctx, &corev1.Pod{})
//	alice, err := rig.Person(ctx, "alice")
//	session, err := rig.Open(ctx, alice, bridge.Exec{Pod: pod, Command: []string{"/reporter", "hold"}})
//
// [Tell] is the story of `make bridge`, and [Measure] what the bridge costs.
package bridge
