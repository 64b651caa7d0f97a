// Package kubeletauthz maps requests to the kubelet's API to the authorization attributes that decide them.
package kubeletauthz
