package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/testimage/report"
	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

// together has two people in one container at once, whose processes leave them in every way that there is.
func together() scene {
	return scene{"Alice and Bob are in one pod at once; its image has one static program, and no shell", func(ctx context.Context, s *story) (err error) {
		pod := &corev1.Pod{}
		pod.Name = "web"
		if s.pod, err = s.Run(ctx, pod); err != nil {
			return err
		}
		for user, groups := range map[**kubernetes.User][]string{&s.alice: {"alice"}, &s.bob: {"bob"}, &s.mallory: {"mallory", Operators}} {
			if *user, err = s.Person(ctx, groups[0], groups[1:]...); err != nil {
				return err
			}
		}
		if err := s.watch(); err != nil {
			return err
		}
		if err := s.open(ctx, s.alice, 5, "descend", "child", "session", "daemon", "sibling"); err != nil {
			return err
		}
		alice := s.sessions["alice"].Reports[0]
		s.show("Alice's: a child, one in a session of its own, one that was forked twice, one by CLONE_PARENT.")
		// The child that tries to write Alice's login UID ends, which the kernel sees to.
		if err := s.open(ctx, s.bob, 2, "descend", "bare", "uid="+strconv.Itoa(int(alice.LoginUID))); err != nil {
			return err
		}
		bob := s.sessions["bob"]
		s.show("Bob's: a child that empties its environment, and one that writes Alice's login UID.")
		s.show("")
		ids := [2]string{s.sessions["alice"].ID, bob.ID}
		if err := s.check(ids[0] != "" && ids[1] != "" && ids[0] != ids[1], "each first process has a session ID in its environment, from nothing in the image"); err != nil {
			return err
		}
		if err := s.check(len(bob.Reports[1].Env) == 0, "Bob's child has emptied its environment"); err != nil {
			return err
		}
		if err := kubernetes.Await(ctx, "the kernel's word to Bob's child", func(context.Context) (bool, error) {
			return strings.Contains(bob.Stderr(), "operation not permitted"), nil
		}); err != nil {
			return err
		}
		return s.check(true, "the kernel refuses Bob's child another login UID: operation not permitted")
	}}
}

// open opens a session and shows the command.
func (s *story) open(ctx context.Context, user *kubernetes.User, reports int, words ...string) error {
	s.show("%s$ kubectl exec -i web -- /reporter %s", user.Name, strings.Join(words, " "))
	session, err := s.Open(ctx, user, reports, []string{"web"}, words...)
	s.sessions[user.Name] = session
	if err != nil {
		delete(s.sessions, user.Name)
	}
	return err
}

// whose tells the user of each process in the container.
func whose() scene {
	return scene{"Whose is each process? By the kernel's audit session, the node's journal and the audit log", func(ctx context.Context, s *story) error {
		claimed := s.sessions["alice"].Reports[0].LoginUID
		s.show("mallory$ curl -X POST '.../nodes/%s/proxy/run/default/web/app?cmd=/reporter+loginuid+%d+sleep+5m'", s.pod.Spec.NodeName, claimed)
		s.show("Through the node's proxy, which no webhook sees, Mallory runs one that takes Alice's login UID.")
		s.show("")
		running, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() {
			status, said, err := s.RunByNode(running, s.mallory, s.pod, "/reporter", "loginuid", strconv.Itoa(int(claimed)), "sleep", "5m")
			ended <- errors.Join(err, fmt.Errorf("it ended: %d %s", status, said))
		}()
		defer func() { stop(); <-ended }()
		var found []Process
		if err := kubernetes.Await(ctx, "Mallory's process", func(ctx context.Context) (_ bool, err error) {
			select {
			case err := <-ended:
				ended <- err
				return false, err
			default:
			}
			found, err = s.Inside(ctx, s.pod)
			return slices.ContainsFunc(found, func(p Process) bool { return slices.Equal(p.Args, []string{"/reporter", "sleep", "5m"}) }), err
		}); err != nil {
			return err
		}
		who, err := s.Who(ctx)
		if err != nil {
			return err
		}
		return errors.Join(s.table(who, found), s.awaitForged(ctx, claimed))
	}}
}

// table shows all processes and checks whose each is.
func (s *story) table(who *Who, found []Process) error {
	slices.SortFunc(found, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	s.show("%-7s %-22s %-9s %-11s %-8s %s", "PID", "COMMAND", "VARIABLE", "LOGIN UID", "SESSION", "WHOSE, AND HOW THAT IS KNOWN")
	count := map[string]int{}
	for _, p := range found {
		origin, session := who.Of(p)
		whose, how := session.User.Name, fmt.Sprintf("%s %.8s, %s", origin.Verdict, session.ID, session.Verdict)
		if origin.Verdict != sessions.MarkRecorded {
			whose, how = map[sessions.MarkVerdict]string{sessions.MarkNone: "the workload", sessions.MarkForged: "nobody's"}[origin.Verdict], origin.Verdict.String()
			if origin.Claimed != (bridge.SessionID{}) {
				claimed, _ := who.Session(origin.Claimed)
				how += ": claims " + claimed.User.Name + "'s"
			}
		}
		if origin.Verdict == sessions.MarkRecorded && session.Verdict != sessions.VerdictCorroborated {
			return fmt.Errorf("session %s is %s: %s", session.ID, session.Verdict, session.Why)
		}
		count[whose]++
		s.show("%-7d %-22.22s %-9.8s %-11s %-8s %s (%s)", p.PID, strings.Join(p.Args[min(1, len(p.Args)):], " "), variable(p), number(p.LoginUID), number(p.Session), whose, how)
	}
	s.show("")
	return errors.Join(
		s.check(count["alice"] == 5, "all 5 of Alice's are Alice's, however they left her shell"),
		s.check(count["bob"] == 2, "both of Bob's are Bob's, also the one without a variable in its environment"),
		s.check(count["nobody's"] == 1, "the one that took Alice's login UID without a session is told as a forgery, and not as Alice's"),
		s.check(count["the workload"] == 1, "the container's own process is nobody's session"),
		s.check(len(found) == 9, "and that is every process in the container"),
	)
}

// variable is the process's own word for its session, "-" where it has none.
func variable(p Process) string {
	for _, entry := range p.Env {
		if value, is := strings.CutPrefix(entry, bridge.SessionName+"="); is {
			return value
		}
	}
	return "-"
}

func number(n uint32) string {
	if n == report.NoSession {
		return "-"
	}
	return strconv.FormatUint(uint64(n), 10)
}
