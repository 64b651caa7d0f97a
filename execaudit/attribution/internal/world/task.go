package world

// unset is the kernel's word for no login UID and no audit session.
const unset = 1<<32 - 1

// environment is what a process claims by its environment.
type environment struct {
	auditID, execSession, requestUID string
}

// task is a process in the kernel's table.
type task struct {
	pid    int
	ticks  uint64 // of its start
	serial int    // no other task has it
	image  int    // no other image has it; a clone without exec is one too
	fresh  bool   // has not executed anything since it was cloned

	parent    *task // real_parent: who forked it, its sibling's with CLONE_PARENT, or who adopted it
	children  map[*task]struct{}
	subreaper bool
	zombie    bool

	container  *container // by its cgroup; nil is the host
	namespace  *container // of PIDs; nil is the host's
	privileged bool       // has CAP_AUDIT_CONTROL in the host's user namespace
	loginUID   uint32
	auditSID   uint32
	env        environment

	session *session // whose it truly is
	hostile bool
	strayed bool // left its container or its audit session, so that nobody can expect its name
	view    view // what the agent remembers of it
}

func (t *task) truth() Truth {
	switch {
	case t.session == nil:
		return Truth{}
	case !t.session.plain || t.strayed:
		return Truth{t.session.request, PartNone}
	case t.hostile:
		return Truth{t.session.request, PartHostile}
	}
	return Truth{t.session.request, PartPlain}
}
