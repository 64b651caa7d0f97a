module github.com/lanyard-dev/lanyard/execcredential

go 1.25

require (
	github.com/lanyard-dev/lanyard/internal/flight v0.1.0
	github.com/lanyard-dev/lanyard/pluginexec v0.1.0
	github.com/lanyard-dev/lanyard/redact v0.1.0
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730
	sigs.k8s.io/yaml v1.6.0
)

require (
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	pgregory.net/rapid v1.3.0
)
