package attribution_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/attribution"
)

// intended returns the records of the session that e's process is the first of, with its mark in both.
func intended(e attribution.Event) (intent, start attribution.Record) {
	intent, start = journalOf(e)
	intent.SessionID, start.SessionID, intent.Process.BootID = e.SessionID, e.SessionID, e.Process.BootID
	return intent, start
}

func TestInheritedMark(t *testing.T) {
	alice, shell := audit("id-a", "alice"), first("id-a", 10, 100)
	shell.SessionID = alicesMark
	intent, _ := intended(shell)
	parent := child(first("", 99, 90), 11, 200)
	parent.SessionID = alicesMark
	orphan := child(parent, 12, 300) // gone before its own mark could be read

	other := shell
	other.AuditID, other.Process = "id-b", process(20, 900)
	shared, _ := intended(other)
	early := child(first("", 98, 1), 13, 1)
	early.SessionID, early.Time = alicesMark, dawn.Add(-time.Minute)

	for name, late := range map[string]any{
		"another session has the mark, too":  shared,
		"the mark is older than the session": early,
	} {
		t.Run("ATT-14 ATT-16 what an ancestor's mark said is revised when "+name, func(t *testing.T) {
			l := newStream(attribution.Options{})
			l.add(alice, intent, parent, orphan)
			l.Advance(after(0))
			l.add(late)
			l.Advance(after(time.Second))
			last := map[attribution.Key]attribution.Answer{}
			for _, a := range l.given {
				last[a.Key] = a
			}
			if a := last[orphan.Key()]; a.Verdict == attribution.VerdictCorroborated || a.Revision != 2 {
				t.Errorf("revision %d: %s (%s)", a.Revision, a.Verdict, a.Reason)
			}
		})
	}
}

func TestShimOfASession(t *testing.T) {
	t.Run("ATT-14 a link that leads out of the container is not followed, though it leads back into it", func(t *testing.T) {
		alice, shell := audit("id-a", "alice"), first("id-a", 10, 100)
		shim := child(shell, 11, 200) // alice, in a privileged pod, started the shim of mallory's session
		shim.ContainerID, shim.Namespace, shim.Pod, shim.Container = "", "", "", ""
		mallory := first("id-m", 20, 300)
		mallory.Parent = shim.Process
		escaped := first("", 21, 400) // clone(CLONE_PARENT)
		escaped.Parent = shim.Process
		intent, start := journalOf(shell)
		mIntent, mStart := journalOf(mallory)
		got := tale(attribution.Options{}, alice, audit("id-m", "mallory"), shell, shim, mallory, escaped, intent, start, mIntent, mStart)
		holds(t, of(got, mallory), attribution.VerdictCorroborated, attribution.ReasonChain, "mallory")
		holds(t, of(got, escaped), attribution.VerdictUnknown, attribution.ReasonNoID, "")
	})
}

func TestLateAncestor(t *testing.T) {
	t.Run("ATT-16 a parent that is first heard of after its child was answered revises the child's answer", func(t *testing.T) {
		alice, shell := audit("id-a", "alice"), first("id-a", 10, 100)
		intent, start := journalOf(shell)
		between := child(shell, 11, 200)
		below := child(between, 12, 300)
		below.AuditID = "id-a"
		between.Kind, between.Time = attribution.KindActivity, dawn.Add(40*time.Second) // its fork was lost
		l := newStream(attribution.Options{})
		l.add(alice, intent, start, shell, below)
		l.Advance(after(0))
		l.add(between)
		l.Advance(after(time.Minute))
		last := map[attribution.Key]attribution.Answer{}
		for _, a := range l.given {
			last[a.Key] = a
		}
		holds(t, last[below.Key()], attribution.VerdictCorroborated, attribution.ReasonChain, "alice")
	})
}

func TestAncestorElsewhere(t *testing.T) {
	t.Run("ATT-16 news of an ancestor whose container is not known revises", func(t *testing.T) {
		alice, bob := audit("id-a", "alice"), audit("id-b", "bob")
		parent := child(first("", 99, 90), 11, 200)
		parent.AuditID, parent.ContainerID = "id-a", ""
		below := child(parent, 12, 300)
		below.AuditID = "id-a"
		other := parent
		other.AuditID, other.Time, other.Kind = "id-b", dawn.Add(40*time.Second), attribution.KindActivity
		l := newStream(attribution.Options{})
		l.add(alice, bob, parent, below)
		l.Advance(after(0))
		l.add(other)
		l.Advance(after(time.Minute))
		last := map[attribution.Key]attribution.Answer{}
		for _, a := range l.given {
			last[a.Key] = a
		}
		holds(t, last[below.Key()], attribution.VerdictConflicting, attribution.ReasonTwoClaims, "")
	})
}
