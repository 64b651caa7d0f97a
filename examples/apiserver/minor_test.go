package apiserver_test

import "testing"

func TestNewerMinor(t *testing.T) {
	t.Run("KAZ-17 a newer version is treated as the newest known, and the log says so", func(t *testing.T) {
		log := captureLog(t)
		k := start(t, asMinor(t, 99)).kubectl(t, "admin-token")
		contains(t, "version", k.ok(t, "get", "--raw", "/version"), `"minor": "37"`)
		contains(t, "log", log(), "Kubernetes 1.99 is newer than 1.37, the newest known version")
	})
}
