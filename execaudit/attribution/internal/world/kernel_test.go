package world

import (
	"testing"
	"time"
)

// bare returns a node's kernel and its first container.
func bare(t *testing.T) (*kernel, *container) {
	t.Helper()
	w := New(Settings{Seed: 1, Nodes: []Node{{Mark: MarkNone}}})
	c := w.nodes[0].pods[0].containers[0]
	c.pod.hostPID, c.pod.privileged = false, false
	w.now += time.Second
	w.nodes[0].stop(c)
	w.nodes[0].run(c)
	return w.nodes[0].kernel, c
}

func TestKernel(t *testing.T) {
	t.Run("ATT-14 CLONE_PARENT gives a child the caller's parent, and the caller's container", func(t *testing.T) {
		k, c := bare(t)
		first := k.fork(c.pod.shim, clone{moved: true, into: c})
		first.namespace = c
		if child := k.fork(first, clone{parent: true}); child.parent != c.pod.shim || child.container != c || child.namespace != c {
			t.Errorf("parent %+v, container %+v", child.parent, child.container)
		}
		if k.fork(c.init, clone{parent: true}) != nil {
			t.Error("the first process of a PID namespace may not")
		}
	})
	t.Run("ATT-14 an orphan goes to the nearest subreaper of its PID namespace, else to the namespace's first process", func(t *testing.T) {
		k, c := bare(t)
		a := k.fork(c.init, clone{})
		b := k.fork(a, clone{})
		orphan := k.fork(b, clone{})
		a.subreaper = true
		k.exit(b)
		if orphan.parent != a {
			t.Errorf("adopted by %d, want the subreaper", orphan.parent.pid)
		}
		k.exit(a)
		if orphan.parent != c.init {
			t.Errorf("adopted by %d, want the first process", orphan.parent.pid)
		}
	})
	t.Run("ATT-14 in the host's PID namespace the shim adopts", func(t *testing.T) {
		k, c := bare(t)
		c.init.namespace = nil
		a := k.fork(c.init, clone{})
		orphan := k.fork(a, clone{})
		k.exit(a)
		if orphan.parent != c.pod.shim {
			t.Errorf("adopted by %d, want the shim", orphan.parent.pid)
		}
	})
	t.Run("ATT-14 a PID is free when its process is reaped, and numbers come round", func(t *testing.T) {
		k, c := bare(t)
		gone := k.fork(c.init, clone{})
		k.exit(gone)
		comesRound := func() bool {
			for range pids {
				k.world.now += time.Second
				child := k.fork(c.init, clone{})
				k.exit(child)
				k.reap(child)
				if child.pid == gone.pid {
					return true
				}
			}
			return false
		}
		if comesRound() {
			t.Error("a zombie's PID was given away")
		}
		k.reap(gone)
		if !comesRound() {
			t.Error("it was never used again")
		}
	})
	t.Run("ATT-13 who has no login UID sets any, and gets an audit session of the kernel's; who has one needs CAP_AUDIT_CONTROL", func(t *testing.T) {
		k, c := bare(t)
		a := k.fork(c.init, clone{})
		if !k.setLoginUID(a, 7) || a.loginUID != 7 || a.auditSID != k.auditSID {
			t.Errorf("login UID %d, audit session %d", a.loginUID, a.auditSID)
		}
		child := k.fork(a, clone{parent: true})
		if k.setLoginUID(child, 8) || child.loginUID != 7 || child.auditSID != a.auditSID {
			t.Errorf("login UID %d, audit session %d", child.loginUID, child.auditSID)
		}
		child.privileged = true
		if !k.setLoginUID(child, unset) || child.auditSID != unset {
			t.Errorf("audit session %d", child.auditSID)
		}
	})
}

func TestWorld(t *testing.T) {
	t.Run("ATT-14 the adversary makes every move, and the same seed draws the same world", func(t *testing.T) {
		s := Settings{Seed: 7, Events: 20_000, Nodes: AllNodes(), Lost: true, Late: true, Skewed: true, Reused: true}
		w, again := New(s), New(s)
		for range w.Pieces() {
		}
		for range again.Pieces() {
		}
		for name, n := range w.Moves() {
			if n == 0 || again.Moves()[name] != n {
				t.Errorf("%s: %d and %d times", name, n, again.Moves()[name])
			}
		}
	})
	t.Run("ATT-14 evidence comes in the order of its arrival", func(t *testing.T) {
		var last time.Time
		for p := range New(Settings{Seed: 8, Events: 5000, Nodes: AllNodes(), Late: true}).Pieces() {
			if p.Arrival.Before(last) {
				t.Fatalf("%v after %v", p.Arrival, last)
			}
			last = p.Arrival
		}
	})
	t.Run("ATT-14 a command tells whose it is", func(t *testing.T) {
		want := Truth{Request: 45, Part: PartHostile}
		if got := Owner(commandOf(3, want)); got != want {
			t.Errorf("Owner = %+v", got)
		}
		if got := Owner("sh"); got != (Truth{}) {
			t.Errorf("Owner = %+v", got)
		}
	})
}
