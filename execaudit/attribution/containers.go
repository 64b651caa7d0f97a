package attribution

import (
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/texts"
)

// containerID is the part of an ID that is compared, padded.
type containerID [texts.ContainerIDBytes]byte

func shortID(id string) (short containerID) {
	copy(short[:], id)
	return short
}

// container is what evidence says about one container. Its ID is not forgeable from inside.
type container struct {
	node                     *node
	id                       containerID
	namespace, pod, nameText string
	// mixed says that agents disagree about its names.
	mixed bool
	last  time.Time
	roots []*root
	loose watchers // answers about its processes that have no session
	gone  bool
}

// container returns nil for no ID.
func (m *Machine) container(n *node, id string, at time.Time) *container {
	if id == "" {
		return nil
	}
	short := shortID(id)
	c := n.containers[short]
	if c == nil {
		c = &container{node: n, id: short}
		n.containers[short] = c
		m.agedContainers.push(c)
		m.house(c.bytes())
	}
	c.last = latest(c.last, at)
	return c
}

func (c *container) bytes() int {
	return containerBytes + len(c.namespace) + len(c.pod) + len(c.nameText)
}

// house counts what containers take.
func (m *Machine) house(n int) {
	m.housed += n
	m.grow(n)
}

// evictTries is how many containers are looked at before something else is evicted.
const evictTries = 64

// evictContainer forgets the oldest that no session is known in, if it is one of the first few.
func (m *Machine) evictContainer() bool {
	var used []*container
	found := false
	for len(used) < evictTries && !found {
		c, ok := m.agedContainers.pop()
		if !ok {
			break
		}
		if found = !c.gone && len(c.roots) == 0; found {
			m.dropContainer(c)
		} else if !c.gone {
			used = append(used, c)
		}
	}
	for _, c := range used {
		c.last = latest(c.last, m.now)
		m.agedContainers.push(c)
	}
	return found
}

// name notes a container's Kubernetes names; c may be nil.
func (m *Machine) name(c *container, namespace, pod, name string) {
	if c == nil {
		return
	}
	before := c.bytes()
	changed := note(c, &c.namespace, namespace)
	changed = note(c, &c.pod, pod) || changed
	changed = note(c, &c.nameText, name) || changed
	if !changed {
		return
	}
	m.house(c.bytes() - before)
	m.touch(&c.loose)
	for _, r := range c.roots {
		m.touch(&r.watchers)
	}
}

// note takes in one name, and reports whether it is news.
func note(c *container, field *string, text string) bool {
	switch {
	case text == "" || text == *field || c.mixed:
		return false
	case *field == "":
		*field = strings.Clone(text)
	default:
		c.mixed = true
	}
	return true
}

// is compares containers of one node, since one may have been dropped and made anew. One that is not known is like no
// other but itself.
func (c *container) is(o *container) bool {
	return c == o || c != nil && o != nil && c.id == o.id
}

// apart reports whether both are known and are two.
func (c *container) apart(o *container) bool {
	return c != nil && o != nil && c.id != o.id
}

// place is where a process ran, as far as is known.
type place struct{ namespace, pod, container string }

func (c *container) place() place {
	if c == nil || c.mixed {
		return place{}
	}
	return place{c.namespace, c.pod, c.nameText}
}

func (p place) known() bool {
	return p.namespace != "" && p.pod != ""
}

// contradicts returns why a session cannot have been there, or "".
func (p place) contradicts(s *Session) Reason {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	switch {
	case differ(p.namespace, s.Namespace), differ(p.pod, s.Pod):
		return ReasonPod
	case differ(p.container, s.Container):
		return ReasonContainer
	}
	return ""
}
