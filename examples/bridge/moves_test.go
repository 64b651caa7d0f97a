package bridge_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/attribution"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// victimSession stands in a move for the ID of the victim's session.
const victimSession = "VICTIM-SESSION"

// markedMoves are how the attacker's processes come, with a mark of the kernel's. The last word of a command is the truth,
// at which nothing that is joined looks.
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
	told := watch(t, pod, container)
	const each = 12
	short := open(t, r, alice, 1+each, []string{pod.Name}, append([]string{"descend"}, slices.Repeat([]string{"child,name=alice"}, each)...)...)
	gone := slices.Collect(maps.Keys(running(t, container, "name=alice")))
	victim := open(t, r, alice, 3, []string{pod.Name}, "descend", "child,name=alice", "daemon,name=alice")
	leaver := open(t, r, mallory, 1+len(markedMoves), []string{pod.Name}, moves(victim)...)
	later := open(t, r, mallory, 1, []string{pod.Name}, "each")
	if err := short.End(); err != nil {
		t.Error(err)
	}
	reused := takePID(t, container, gone, later)
	// Processes of nobody's session, one of which sets the victim's login UID.
	login := strconv.Itoa(int(victim.Reports[0].LoginUID))
	for _, words := range [][]string{
		{"loginuid", login, "linger", "200ms", "hold", "name=nobody"},
		{"env", brg.SessionName + "=" + victim.ID, "/proc/self/exe", "linger", "200ms", "hold", "name=nobody"},
	} {
		direct(t, r, pod, append([]string{"/reporter"}, words...)...)
	}
	sessions := map[uint32]string{short.Reports[0].AuditSession: "alice"}
	for _, s := range []*bridge.Session{victim, leaver, later} {
		sessions[s.Reports[0].AuditSession] = s.User.Name
		if err := s.End(); err != nil {
			t.Error(err)
		}
	}
	answers := attribute(t, r, pod, told(), len(sessions))
	check(t, answers, sessions, reused)
}

// moves are the words of the attacker's command.
func moves(victim *bridge.Session) []string {
	words := []string{"descend"}
	for _, way := range markedMoves {
		words = append(words, strings.ReplaceAll(way, victimSession, victim.ID)+",name=mallory")
	}
	return words
}

// truthOf returns whose process an event is by its command, and the way that it came.
func truthOf(e *attribution.Event) (user, way string) {
	way = e.Command[strings.LastIndexByte(e.Command, ' ')+1:]
	for word := range strings.SplitSeq(way, ",") {
		if name, ok := strings.CutPrefix(word, "name="); ok {
			user = name
		}
	}
	return user, way
}

func check(t *testing.T, answers []attribution.Answer, sessions map[uint32]string, reused int) {
	t.Run("ATT-13 every process is corroborated as its own user's, whatever it did to leave, and never as the victim's", func(t *testing.T) {
		seen, forged := map[string]bool{}, 0
		for _, a := range answers {
			user, way := truthOf(&a.Event)
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
			if user, _ := truthOf(&a.Event); user != "nobody" {
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
			if user, _ := truthOf(&a.Event); a.Event.Process.PID == reused && a.Session != nil && a.Session.User.Name == user {
				users[user] = true
			}
		}
		if !users["alice"] || !users["mallory"] {
			t.Errorf("PID %d had processes of %v", reused, users)
		}
	})
}
