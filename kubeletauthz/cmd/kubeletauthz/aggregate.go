package main

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// aggregate adds to each role that collects others by label the rules of those, and of the roles that those collect.
// Its own rules stay: in an API server's output they are what it collected, and the collected roles may be in no file.
func (m *manifests) aggregate() {
	own := make([][]rbacv1.PolicyRule, len(m.Cluster))
	selectors := make([][]labels.Selector, len(m.Cluster))
	for i, r := range m.Cluster {
		own[i], selectors[i] = r.Rules, m.selectors(r)
	}
	for i, r := range m.Cluster {
		if len(selectors[i]) == 0 {
			continue
		}
		r.Rules = nil
		for _, from := range m.reach(i, selectors) {
			r.Rules = append(r.Rules, own[from]...)
		}
	}
}

// selectors are those that a role collects by; one that is none is a fault.
func (m *manifests) selectors(r *rbacv1.ClusterRole) []labels.Selector {
	if r.AggregationRule == nil {
		return nil
	}
	var found []labels.Selector
	for i := range r.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&r.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			m.fault(m.first["ClusterRole "+r.Name].place, "refused: ClusterRole %q: %v", r.Name, err)
			continue
		}
		found = append(found, selector)
	}
	return found
}

// reach returns a role's index and those of the roles it collects, directly or by way of others, each once.
func (m *manifests) reach(start int, selectors [][]labels.Selector) []int {
	order, seen := []int{start}, map[int]bool{start: true}
	for next := 0; next < len(order); next++ {
		for _, selector := range selectors[order[next]] {
			for i, r := range m.Cluster {
				if !seen[i] && selector.Matches(labels.Set(r.Labels)) {
					order, seen[i] = append(order, i), true
				}
			}
		}
	}
	return order
}
