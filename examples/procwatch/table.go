package procwatch

// process is what is known of a live one.
type process struct {
	pid int
	// known says that it was read while it was there; then ticks and container hold.
	known     bool
	ticks     uint64
	container string
	// mark is as it was read last; zero when it was not.
	mark mark
	// parent is the one of the fork, with its container then; parentTicks is 0 when the fork was not seen or the parent
	// was gone.
	parent          int
	parentTicks     uint64
	parentContainer string
	// outside says that parentContainer is known.
	outside bool
	// images counts the programs since the fork; negative when the fork was not seen.
	images int
	// threads is how many live; it holds when the fork was seen.
	threads int
}

// table holds the processes whose fork or exec was seen, by PID, until they end.
type table map[int]*process

// unseen is the count of images of a process that was there before.
const unseen = -1 << 31

// born enters a new process at the fork.
func (t table) born(n notice, now uint64) *process {
	p := &process{pid: n.process, parent: n.parent, threads: 1}
	t.bear(p, now)
	// Until somebody moves it, it is where its parent is.
	p.container = p.parentContainer
	p.read(now, p.outside)
	t[p.pid] = p
	return p
}

// bear notes who the parent is and where.
func (t table) bear(p *process, now uint64) {
	if mother := t[p.parent]; mother != nil && mother.known {
		p.parentTicks = mother.ticks
		p.parentContainer, p.outside = mother.container, mother.container != ""
	} else if l, ok := lifeOf(p.parent); mother == nil && ok && l.ticks <= now {
		p.parentTicks = l.ticks
	}
	if in, ok := container(p.parent, p.parentTicks); ok {
		p.parentContainer, p.outside = in, true
	}
}

// changed notes that a process runs another program. It may have been there before, or moved to another container.
func (t table) changed(pid int, now uint64) *process {
	p := t[pid]
	if p == nil {
		p = &process{pid: pid, images: unseen}
		t[pid] = p
	}
	p.images++
	p.read(now, p.container != "")
	return p
}

// thread notes one more.
func (t table) thread(pid int) {
	if p := t[pid]; p != nil {
		p.threads++
	}
}

// ended returns the process that ended with the thread, nil when others of it live or nothing is known of it. The first
// thread's end is not the process's: another may go on, or run a program in its place.
func (t table) ended(n notice) *process {
	p := t[n.process]
	if p == nil {
		return nil
	}
	p.threads--
	if p.images >= 0 && p.threads > 0 || p.images < 0 && n.thread != n.process {
		return nil
	}
	delete(t, n.process)
	return p
}

// read looks at the process unless it is gone, or has its number from one that is gone. Of one that is about to end the
// container cannot be read; it is then the one it had, if that is settled: runtimes move processes into a container,
// not out.
func (p *process) read(now uint64, settled bool) {
	l, ok := lifeOf(p.pid)
	if !ok || l.ticks > now || p.known && l.ticks != p.ticks {
		p.known = false
		return
	}
	in, ok := container(p.pid, l.ticks)
	if ok {
		p.container = in
	}
	p.ticks, p.known = l.ticks, ok || settled
}
