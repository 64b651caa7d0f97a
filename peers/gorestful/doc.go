// Package gorestful runs kubeletauthz with go-restful, the router of the kubelet: its paths against its routing, and
// its guard as a filter.
package gorestful
