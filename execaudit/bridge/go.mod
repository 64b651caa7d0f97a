module github.com/lanyard-dev/lanyard/execaudit/bridge

go 1.26.0

require (
	github.com/lanyard-dev/lanyard/envprecedence v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/journal v0.1.0
	k8s.io/api v0.36.4
	k8s.io/apimachinery v0.36.4
	pgregory.net/rapid v1.3.0
)
