package sessions

import (
	"slices"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

// several reports whether texts that say something say different things.
func several(texts ...string) bool {
	first := ""
	for _, text := range texts {
		if text != "" && first != "" && text != first {
			return true
		}
		if text != "" {
			first = text
		}
	}
	return false
}

// conflict returns what in the evidence contradicts itself, "" for nothing. Each rule is about all of the evidence, and
// none is broken less by more of it. The last one is for evidence that agrees in all else.
func (s *Session) conflict() Reason {
	var names, uids, requests, namespaces, pods, podUIDs, containers, nodes []string
	noToken := false
	for _, r := range s.Records {
		names, uids = append(names, r.User.Name), append(uids, r.User.UID)
		namespaces, pods, podUIDs = append(namespaces, r.Namespace), append(pods, r.Pod), append(podUIDs, r.PodUID)
		containers, nodes = append(containers, r.Container), append(nodes, r.Node)
		noToken = noToken || r.Outcome != bridge.OutcomeMarked
	}
	for _, a := range s.Audits {
		names, uids, requests = append(names, a.User.Name), append(uids, a.User.UID), append(requests, a.AuditID)
		namespaces, pods, nodes = append(namespaces, a.Namespace), append(pods, a.Pod), append(nodes, a.Node)
		noToken = noToken || a.Outcome != "" && a.Outcome != bridge.OutcomeMarked
	}
	for _, u := range s.Uses {
		namespaces, pods, podUIDs = append(namespaces, u.Namespace), append(pods, u.Pod), append(podUIDs, u.PodUID)
		containers, nodes = append(containers, u.Container), append(nodes, u.Mark.Node)
	}
	switch {
	case several(names...) || several(uids...):
		return ReasonUsers
	case slices.ContainsFunc([][]string{namespaces, pods, podUIDs, containers, nodes}, func(texts []string) bool { return several(texts...) }):
		return ReasonPlace
	case len(s.Uses) > 1:
		return ReasonUses
	case len(s.Uses) > 0 && noToken:
		return ReasonNoToken
	case several(requests...):
		return ReasonRequests
	}
	return ""
}
