package admission

import "github.com/lanyard-dev/lanyard/execaudit/bridge/token"

// target is the pod and the container that the API server will take.
type target struct {
	pod       *Pod
	container Container
	// problem is why they are not known; passing says that the API server refuses the request for it.
	problem string
	passing bool
}

// find resolves what the request names.
func (in Input) find() target {
	t := target{pod: in.Known.Pod}
	switch {
	case t.pod == nil && in.Known.Problem != "":
		t.problem = in.Known.Problem
	case t.pod == nil:
		t.problem, t.passing = "there is no such pod", true
	default:
		var ok bool
		if t.container, ok = t.pod.Container(in.Request.Container); !ok {
			t.problem, t.passing = "there is no such container", true
		} else if t.pod.Node == "" {
			t.problem, t.passing = "the pod has no node", true
		} else {
			t.problem = in.Known.Problem
		}
	}
	return t
}

// isFor reports whether the token was signed for the target. Of a pod that could not be looked up it compares what
// the request says; the node compares the rest.
func (e exec) isFor(t token.Token) bool {
	if t.Pod.Namespace != e.Request.Namespace || t.Pod.Name != e.Request.Name {
		return false
	}
	if e.pod == nil {
		return e.Known.Problem != "" && (e.Request.Container == "" || e.Request.Container == t.Container)
	}
	return t.Pod == e.pod.ID && t.Container == e.container.Name && t.Node == e.pod.Node
}

// forRecord returns what is known, for the session's record.
func (t target) forRecord() Target {
	r := Target{Container: t.container.Name}
	if t.pod != nil {
		r.PodUID, r.Node = t.pod.ID.UID, t.pod.Node
	}
	return r
}
