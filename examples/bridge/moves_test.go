package bridge_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/moves"
	"github.com/lanyard-dev/lanyard/examples/pids"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// victimSession stands in a move for the ID of the victim's session.
const victimSession = "VICTIM-SESSION"

// markedMoves are how the attacker's processes come, with a mark of the kernel's. The last word of a command is the
// truth, at which nothing that is joined looks.
var markedMoves = []string{
	"child", "session", "daemon", "triple", "sibling", "bare", "sibling,bare", "triple,bare",
	"child,env=" + brg.SessionName + "=" + victimSession, "sibling,env=" + brg.SessionName + "=" + victimSession,
	"daemon,env=" + brg.SessionName + "=" + victimSession, "sibling,as=11111111-2222-3333-4444-555555555555",
}

// TestMoves has one user's processes try to leave their session for another's, on a Kubernetes as released.
func TestMoves(t *testing.T) {
	r := rigOf(t)
	pod := run(t, r, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Args: []string{"pause"}}}}})
	alice, mallory := person(t, r, "alice"), person(t, r, "mallory")
	container := bridge.ContainerID(pod, "")
	kernel, connector := watch(t, r, pod, source.ModeAuto), watch(t, r, pod, source.ModeConnector)
	const each = 12
	short := open(t, r, alice, 1+each, []string{pod.Name}, append([]string{"descend"}, slices.Repeat([]string{"child,name=alice"}, each)...)...)
	gone := slices.Collect(maps.Keys(running(t, container, "name=alice")))
	victim := open(t, r, alice, 3, []string{pod.Name}, "descend", "child,name=alice", "daemon,name=alice")
	leaver := open(t, r, mallory, 1+len(markedMoves), []string{pod.Name}, descent(victim)...)
	later := open(t, r, mallory, 1, []string{pod.Name}, "each")
	if err := short.End(); err != nil {
		t.Error(err)
	}
	taking, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	reused, err := pids.Take(taking, container, gone, "name=mallory", later.Say)
	if err != nil {
		t.Fatal(err)
	}
	// Processes of nobody's session, one of which sets the victim's login UID.
	login := victim.Reports[0].LoginUID
	for _, words := range [][]string{
		{"loginuid", strconv.Itoa(int(login)), "linger", "200ms", "hold", "name=nobody"},
		{"env", brg.SessionName + "=" + victim.ID, "/proc/self/exe", "linger", "200ms", "hold", "name=nobody"},
	} {
		direct(t, r, pod, append([]string{"/reporter"}, words...)...)
	}
	t.Run("AGT-1 BRG-3 the agent says that a mark which no session of the node has is forged, and no other", func(t *testing.T) {
		await(t, "the agent's word", func() (bool, error) { return len(kernel.Forged()) > 0, nil })
		if told := kernel.Forged(); len(told) != 1 || told[0].LoginUID != login || told[0].SessionID == victim.Reports[0].AuditSession {
			t.Errorf("told %+v", told)
		}
	})
	sessions := map[uint32]string{short.Reports[0].AuditSession: "alice"}
	for _, s := range []*bridge.Session{victim, leaver, later} {
		sessions[s.Reports[0].AuditSession] = s.User.Name
		if err := s.End(); err != nil {
			t.Error(err)
		}
	}
	journal := settled(t, r, pod, len(sessions))
	events, beside := kernel.told(t), connector.told(t)
	t.Run("by the kernel's programs", func(t *testing.T) { check(t, attribute(t, r, journal, events), sessions, reused) })
	t.Run("AGT-4 by the proc connector", func(t *testing.T) { check(t, attribute(t, r, journal, beside), sessions, reused) })
	unseen, orphans, err := moves.Unseen(journal, events)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("AGT-1 ATT-13 processes of a session whose first one nobody saw are its user's by the mark", func(t *testing.T) {
		seen := 0
		for _, a := range attribute(t, r, unseen, orphans) {
			if user, _ := moves.Truth(a.Event.Command); user == "alice" || user == "mallory" {
				if seen++; a.Verdict != attribution.VerdictCorroborated || a.Session.User.Name != user {
					t.Errorf("%q of %s: %s (%s)", a.Event.Command, user, a.Verdict, a.Reason)
				}
			}
		}
		if seen < len(markedMoves) {
			t.Errorf("%d such programs were seen", seen)
		}
	})
	for name, logs := range map[string][2][]byte{
		"of a session whose first one nobody saw": {moves.Unmarked(unseen), moves.Unmarked(orphans)},
		// Whose word on a parent is the kernel's.
		"cloned with CLONE_PARENT": {moves.Unmarked(journal), moves.Unmarked(beside)},
	} {
		t.Run("ATT-14 without the mark a process "+name+" is a hint at most", func(t *testing.T) {
			seen, answers := 0, attribute(t, r, logs[0], logs[1])
			twins := moves.Twins(answers)
			for _, a := range answers {
				user, way := moves.Truth(a.Event.Command)
				if user != "mallory" || !strings.Contains(a.Event.Command, " hold ") || twins[a.Event.Process] ||
					strings.HasPrefix(name, "cloned") && !strings.HasPrefix(way, "sibling") {
					continue
				}
				if seen++; a.Verdict == attribution.VerdictCorroborated || a.Session != nil {
					t.Errorf("%q: %s (%s)", a.Event.Command, a.Verdict, a.Reason)
				}
			}
			if seen == 0 {
				t.Error("no such process was seen")
			}
		})
	}
}

// descent are the words of the attacker's command.
func descent(victim *bridge.Session) []string {
	words := []string{"descend"}
	for _, way := range markedMoves {
		words = append(words, strings.ReplaceAll(way, victimSession, victim.ID)+",name=mallory")
	}
	return words
}

func check(t *testing.T, answers []attribution.Answer, sessions map[uint32]string, reused int) {
	t.Run("ATT-13 every process is corroborated as its own user's, whatever it did to leave, and never as the victim's", func(t *testing.T) {
		seen, forged := map[string]bool{}, 0
		for _, a := range answers {
			user, way := moves.Truth(a.Event.Command)
			if user != "alice" && user != "mallory" {
				continue
			}
			seen[way] = true
			if a.Verdict != attribution.VerdictCorroborated || a.Session.User.Name != user {
				t.Errorf("%q of %s: %s (%s)", a.Event.Command, user, a.Verdict, a.Reason)
			}
			if a.Reason == attribution.ReasonKernelSpoofed {
				forged++
			}
		}
		if len(seen) < len(markedMoves) || forged == 0 {
			t.Errorf("%d ways were seen, %d programs with a forged session: %v", len(seen), forged, seen)
		}
	})
	t.Run("ATT-13 an event with a session's mark is its user's, and no other is named", func(t *testing.T) {
		count, owner := map[string]int{}, map[attribution.Process]string{}
		for _, a := range answers {
			if user := sessions[a.Event.SessionID]; user != "" {
				owner[a.Event.Process] = user
			}
		}
		for _, a := range answers {
			user := sessions[a.Event.SessionID]
			if user == "" { // it was gone before its mark could be read
				user = owner[a.Event.Parent]
			}
			switch {
			case sessions[a.Event.SessionID] != "" && (a.Session == nil || a.Session.User.Name != user):
				t.Errorf("%v %q with the mark of %s: %s (%s)", a.Event.Kind, a.Event.Command, user, a.Verdict, a.Reason)
			case a.Session != nil && a.Session.User.Name != user:
				t.Errorf("%v %q of %q is named as %s's (%s)", a.Event.Kind, a.Event.Command, user, a.Session.User.Name, a.Reason)
			}
			count[user]++
		}
		t.Logf("events by user: %v", count)
	})
	t.Run("ATT-13 a login UID or a session in the environment is no more than a hint", func(t *testing.T) {
		seen := 0
		for _, a := range answers {
			if user, _ := moves.Truth(a.Event.Command); user != "nobody" {
				continue
			}
			seen++
			if a.Verdict == attribution.VerdictCorroborated || a.Session != nil {
				t.Errorf("%q: %s (%s)", a.Event.Command, a.Verdict, a.Reason)
			}
		}
		if seen == 0 {
			t.Error("no such process was seen")
		}
	})
	t.Run("ATT-13 ATT-14 a process that has the PID of another's is its own user's", func(t *testing.T) {
		users := map[string]bool{}
		for _, a := range answers {
			if user, _ := moves.Truth(a.Event.Command); a.Event.Process.PID == reused && a.Session != nil && a.Session.User.Name == user {
				users[user] = true
			}
		}
		if !users["alice"] || !users["mallory"] {
			t.Errorf("PID %d had processes of %v", reused, users)
		}
	})
}
