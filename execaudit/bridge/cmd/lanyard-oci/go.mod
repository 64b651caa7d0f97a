module github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-oci

go 1.26.0

require (
	github.com/lanyard-dev/lanyard/execaudit/bridge v0.1.0
	pgregory.net/rapid v1.3.0
)
