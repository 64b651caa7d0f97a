package kubeletauthz

// subresource is a small number, so that Attributes stay small; subNone stands for none.
type subresource uint8

const (
	subNone subresource = iota
	subCheckpoint
	subConfigz
	subHealthz
	subLog
	subMetrics
	subPods
	subProxy
	subStats
	subStatusz
)

// String is the subresource as rules write it after "nodes/".
func (s subresource) String() string {
	return [...]string{"", "checkpoint", "configz", "healthz", "log", "metrics", "pods", "proxy", "stats", "statusz"}[s]
}

// feature is a set of what a kubelet may have.
type feature uint8

const (
	featureFine      feature = 1 << iota // the KubeletFineGrainedAuthz gate is on
	featureZpages                        // statusz and flagz have subresources of their own
	featureHardened                      // commands need create
	featureAllocated                     // /allocatedPods is mapped
)

// family is what the paths below one first segment have in common.
type family struct {
	own      subresource // the finer subresource, or none
	needs    feature     // without it, the paths are proxy
	shared   bool        // proxy is asked after it: for what the KEP adds, not for what existed before
	commands bool        // the handlers reach into containers
}

// familyOf compares case sensitively and as a whole, as routers do.
func familyOf(segment string) family {
	switch segment {
	case "pods", "runningpods":
		return family{own: subPods, needs: featureFine, shared: true}
	case "allocatedPods":
		return family{own: subPods, needs: featureFine | featureAllocated, shared: true}
	case "healthz":
		return family{own: subHealthz, needs: featureFine, shared: true}
	case "configz":
		return family{own: subConfigz, needs: featureFine, shared: true}
	case "flagz":
		return family{own: subConfigz, needs: featureZpages}
	case "statusz":
		return family{own: subStatusz, needs: featureZpages}
	case "stats":
		return family{own: subStats}
	case "metrics":
		return family{own: subMetrics}
	case "logs":
		return family{own: subLog}
	case "checkpoint":
		return family{own: subCheckpoint}
	case "exec", "attach", "run", "portForward":
		return family{commands: true}
	}
	return family{}
}
