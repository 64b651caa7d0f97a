module github.com/lanyard-dev/lanyard/execcredential/cmd/execcredential

go 1.25

require (
	github.com/lanyard-dev/lanyard/execcredential v0.1.0
	github.com/lanyard-dev/lanyard/internal/terminal v0.1.0
	github.com/lanyard-dev/lanyard/pluginexec v0.1.0
	github.com/lanyard-dev/lanyard/redact v0.1.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)
