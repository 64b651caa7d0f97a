package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"

	"github.com/lanyard-dev/lanyard/examples/soak"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// The size of the truth test.
const (
	truthPods  = 5
	truthDepth = 4  // generations below a session's first process
	openPerPod = 10 // sessions that stay open on a pod while others come
	truthActs  = 10 // whose daemons live until the next act is over
)

var (
	truthSessions = soak.Size(200, 1000)
	truthUsers    = soak.Size(20, 50)
	actSessions   = truthSessions / truthActs
)

// How many of the sessions are not what they seem.
var (
	spoofedSessions     = soak.Size(20, 30)
	reusedSessions      = soak.Size(6, 10) // half of them reuse the other half's IDs
	placeholderSessions = soak.Size(6, 10)
)

// trick is what is wrong with a session.
type trick int

const (
	honest    trick = iota
	spoof           // one of its processes takes another ID
	reuse           // its user sends the audit ID of somebody's open session
	noID            // its API server had no audit ID
	unknownID       // its user sends the placeholder as audit ID
)

// plan is one session before it is opened.
type plan struct {
	number    int
	user, pod int
	trick     trick
	// cut says that its client goes away instead of ending its input.
	cut bool
	// steps are the generations of the reporter's "live", the first process included.
	steps []string
}

// victim stands in a step for the ID of somebody's open session.
const victim = "VICTIM"

// waysToCome are how generations come; some lose their parent at once, outlive their session, or come when it is over.
var waysToCome = []string{
	"child", "child", "child", "child", "child", "child", "child", "child",
	"kill", "kill", "daemon", "daemon", "late", "bare",
}

// forgeries are how a spoofing generation comes.
var forgeries = []string{
	"as=" + victim, "as=" + victim, "become=" + victim, "become=" + victim,
	"as=11111111-2222-3333-4444-555555555555", "as=" + execaudit.PlaceholderAuditID,
}

// draw plans all sessions.
func draw(seed uint64) []plan {
	r := rand.New(rand.NewPCG(seed, 6035))
	plans := make([]plan, truthSessions)
	for i := range plans {
		plans[i] = plan{number: i, user: i % truthUsers, pod: r.IntN(truthPods), cut: r.IntN(50) == 0, steps: []string{"first"}}
		for range truthDepth {
			plans[i].steps = append(plans[i].steps, pick(r, waysToCome))
		}
	}
	// Whoever takes another's ID needs some that are open.
	const first = truthPods * openPerPod
	odd := r.Perm(truthSessions - first)
	play := func(n int, what trick) {
		for _, i := range odd[:n] {
			plans[first+i].play(r, what)
		}
		odd = odd[n:]
	}
	play(spoofedSessions, spoof)
	play(reusedSessions/2, reuse)
	play(placeholderSessions/2, noID)
	play(placeholderSessions/2, unknownID)
	return plans
}

func (p *plan) play(r *rand.Rand, what trick) {
	p.trick = what
	if what == spoof {
		p.steps[1+r.IntN(truthDepth)] = pick(r, forgeries)
	}
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// name is on the command lines of the session's processes: the truth, at which nothing that is joined looks.
func (p *plan) name() string { return fmt.Sprintf("session-%04d", p.number) }

func (p *plan) act() int { return p.number / actSessions }

// command is the session's, with the ID of its victim.
func (p *plan) command(id string) []string {
	words := append([]string{"live", path.Join(truthDir, actName(p.act())), p.name()}, p.steps...)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], victim, id)
	}
	return words
}

// killed says that the first process does not live to the session's end.
func (p *plan) killed() bool { return p.steps[1] == "kill" }
