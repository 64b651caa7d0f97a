package cri

import runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

// Features returns what a runtime that uses this package reports in StatusResponse.features.
func Features() *runtimeapi.RuntimeFeatures {
	return &runtimeapi.RuntimeFeatures{SupplementalGroupsPolicy: true}
}

// NodeFeature returns the value of node.status.features.supplementalGroupsPolicy: nil when the runtime reports no
// features at all, as older ones do, else what it reports.
//
// Source: KEP-3619, features in StatusResponse.
func NodeFeature(status *runtimeapi.StatusResponse) *bool {
	features := status.GetFeatures()
	if features == nil {
		return nil
	}
	supported := features.GetSupplementalGroupsPolicy()
	return &supported
}
