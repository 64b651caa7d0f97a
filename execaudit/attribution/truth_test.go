package attribution_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	"github.com/lanyard-dev/lanyard/execaudit/attribution/internal/world"
)

// soakVariable is what `make soak` sets.
const soakVariable = "LANYARD_SOAK"

// truthEvents is how many events all worlds together have at least.
func truthEvents() int {
	if os.Getenv(soakVariable) != "" {
		return 10_000_000
	}
	return 200_000
}

// clusters are the settings of which each has one node of each kind.
const clusters = 16

func cluster(i int) world.Settings {
	return world.Settings{
		Seed: uint64(i), Events: truthEvents() / clusters, Nodes: world.AllNodes(), Lost: i&1 > 0, Late: i&2 > 0, Skewed: i&4 > 0, Reused: i&8 > 0,
	}
}

// tally counts the last answers about a node's events.
type tally struct {
	node     world.Node
	settings world.Settings
	verdicts [5]int
	// expected are about events of a session with one request, and named those that name it: of programs that do nothing
	// odd, and of the adversary's.
	expected, named [2]int
}

// expect counts an event, as unknown until there is an answer.
func (c *tally) expect(e *attribution.Event) {
	c.verdicts[attribution.VerdictUnknown]++
	if truth := world.Owner(e.Command); truth.Part != world.PartNone {
		c.expected[truth.Part-world.PartPlain]++
	}
}

func (c *tally) add(a *attribution.Answer) {
	c.verdicts[attribution.VerdictUnknown]--
	c.verdicts[a.Verdict]++
	if truth := world.Owner(a.Event.Command); truth.Part != world.PartNone && a.Session != nil {
		c.named[truth.Part-world.PartPlain]++
	}
}

// marked reports whether nothing is missing for every process of a session to be named.
func (c *tally) marked() bool {
	return c.node.Journal && c.node.Mark == world.MarkOwn && tellsMark[c.node.Agent] && !c.settings.Lost && !c.settings.Reused
}

// String names the combination.
func (c *tally) String() string {
	s := fmt.Sprintf("agent %-11s mark %-6s", c.node.Agent, c.node.Mark)
	for _, o := range []struct {
		name string
		on   bool
	}{{"journal", c.node.Journal}, {"lost", c.settings.Lost}, {"late", c.settings.Late}, {"skewed", c.settings.Skewed}, {"reused", c.settings.Reused}} {
		if !o.on {
			o.name = strings.Repeat("-", len(o.name))
		}
		s += " " + o.name
	}
	return s
}

// through lets a cluster's evidence pass through two machines, of which one revises its answers and one gives the last,
// and holds every name against the truth.
func through(t *testing.T, s world.Settings) ([]*tally, map[string]int) {
	t.Helper()
	nodes := map[string]*tally{}
	var all []*tally
	for i, n := range s.Nodes {
		all = append(all, &tally{node: n, settings: s})
		nodes[fmt.Sprintf("n%d", i)] = all[i]
	}
	wrong := 0
	judged := func(count func(*attribution.Answer)) func(*attribution.Answer) {
		return func(a *attribution.Answer) {
			count(a)
			if fault := judge(a); fault != "" {
				if wrong++; wrong <= 5 {
					t.Errorf("seed %d, %s: %s: %s", s.Seed, nodes[a.Event.Node], fault, describe(a))
				}
			}
		}
	}
	w := world.New(s)
	machines := []*attribution.Machine{
		attribution.New(attribution.Options{All: true}, judged(func(*attribution.Answer) {})),
		attribution.New(attribution.Options{Last: true}, judged(func(a *attribution.Answer) { nodes[a.Event.Node].add(a) })),
	}
	for p := range w.Pieces() {
		if p.Event != nil {
			nodes[p.Event.Node].expect(p.Event)
		}
		for _, m := range machines {
			m.Advance(p.Arrival)
			give(m, p)
		}
	}
	for _, m := range machines {
		m.Flush()
	}
	if wrong > 0 {
		t.Errorf("%d wrong names", wrong)
	}
	return all, w.Moves()
}

// judge holds an answer against the truth and says what is wrong with it.
func judge(a *attribution.Answer) string {
	truth, s := world.Owner(a.Event.Command), a.Session
	switch {
	case (s != nil) != (a.Verdict == attribution.VerdictCorroborated):
		return "session and verdict disagree"
	case s == nil:
		return ""
	case truth.Request == 0:
		return "it is nobody's"
	case s.User.Name != world.UserOf(truth.Request):
		return "it is " + world.UserOf(truth.Request) + "'s"
	case s.UserAgent != world.AgentOf(truth.Request):
		return "it is of another session of that user, " + world.AgentOf(truth.Request)
	case s.Actor().Name != world.ActorOf(truth.Request):
		return "it acts as " + world.ActorOf(truth.Request)
	}
	return ""
}

// give adds a piece of evidence to a machine.
func give(m *attribution.Machine, p *world.Piece) {
	switch {
	case p.Audit != nil:
		m.AddAudit(p.Audit)
	case p.Record != nil:
		m.AddRecord(p.Record)
	default:
		m.AddEvent(p.Event)
	}
}

// describe prints what a wrong answer is about.
func describe(a *attribution.Answer) string {
	e, s := &a.Event, a.Session
	if s == nil {
		s = &attribution.Session{}
	}
	return fmt.Sprintf("%s %s %s %s: %s (%s), ID %q of %q as %q (%s), revision %d; process %+v, parent %+v, outside %v, first image %v, session %d, login %d, claims %q %q, container %.12s",
		e.Time.Format("15:04:05.000000"), e.Node, e.Kind, e.Command, a.Verdict, a.Reason, a.AuditID, s.User.Name, s.Actor().Name, s.UserAgent, a.Revision,
		e.Process, e.Parent, e.ParentOutside, e.FirstImage, e.SessionID, e.LoginUID, e.AuditID, e.ExecSession, e.ContainerID)
}

func TestTruth(t *testing.T) {
	var all []*tally
	moves := map[string]int{}
	var each [clusters]struct {
		tallies []*tally
		moves   map[string]int
	}
	t.Run("clusters", func(t *testing.T) {
		for i := range each {
			s := cluster(i)
			t.Run(fmt.Sprintf("ATT-14 not one wrong name: lost %v, late %v, skewed %v, reused %v", s.Lost, s.Late, s.Skewed, s.Reused), func(t *testing.T) {
				t.Parallel()
				each[i].tallies, each[i].moves = through(t, s)
			})
		}
	})
	for _, c := range each {
		all = append(all, c.tallies...)
		for m, n := range c.moves {
			moves[m] += n
		}
	}
	t.Run("ATT-14 the adversary made every move", func(t *testing.T) {
		for m, n := range moves {
			if n == 0 {
				t.Errorf("%s: never", m)
			}
		}
		t.Log(moves)
	})
	t.Run("ATT-13 with the mark, whatever processes do, they have their session's name", func(t *testing.T) {
		floor(t, all, 97, 97, func(c *tally) bool { return c.marked() && !c.settings.Skewed })
	})
	t.Run("ATT-13 so have most on nodes whose clocks are wrong, of which a few sessions must tell by how much", func(t *testing.T) {
		floor(t, all, 50, 50, func(c *tally) bool { return c.marked() && c.settings.Skewed })
	})
	t.Run("ATT-12 without the mark, most that do nothing odd have their session's name", func(t *testing.T) {
		floor(t, all, 60, 0, func(c *tally) bool {
			return c.node.Journal && c.node.Mark != world.MarkOwn && tellsExactly[c.node.Agent] && !c.settings.Lost && !c.settings.Reused
		})
	})
	t.Run("ATT-12 without a journal nobody has a name", func(t *testing.T) {
		for _, c := range all {
			if named := c.verdicts[attribution.VerdictCorroborated]; !c.node.Journal && named > 0 {
				t.Errorf("%s: %d named", c, named)
			}
		}
	})
	for _, c := range all {
		t.Logf("%s: %d unknown, %d placeholder, %d hint, %d conflicting, %d corroborated; %d of %d plain, %d of %d hostile are named", c,
			c.verdicts[0], c.verdicts[1], c.verdicts[2], c.verdicts[3], c.verdicts[4], c.named[0], c.expected[0], c.named[1], c.expected[1])
	}
}

var (
	// tellsMark are the agents that report the kernel's audit session and the boot it counts from.
	tellsMark = map[world.Agent]bool{world.AgentMark: true, world.AgentImagesMark: true, world.AgentPIDsMark: true}
	// tellsExactly are the agents whose identities are certain.
	tellsExactly = map[world.Agent]bool{world.AgentMark: true, world.AgentTicks: true, world.AgentImages: true, world.AgentImagesMark: true}
)

// floor wants so many of a hundred events named, in all chosen combinations together: of the plain, and of the hostile.
func floor(t *testing.T, all []*tally, plain, hostile int, chosen func(*tally) bool) {
	t.Helper()
	var sum tally
	for _, c := range all {
		if chosen(c) {
			for i := range sum.named {
				sum.expected[i] += c.expected[i]
				sum.named[i] += c.named[i]
			}
		}
	}
	t.Logf("named: %d of %d plain, %d of %d hostile", sum.named[0], sum.expected[0], sum.named[1], sum.expected[1])
	for i, percent := range []int{plain, hostile} {
		if sum.expected[i] == 0 || sum.named[i]*100 < sum.expected[i]*percent {
			t.Errorf("%d of %d, want %d%%", sum.named[i], sum.expected[i], percent)
		}
	}
}
