module github.com/lanyard-dev/lanyard/execaudit

go 1.26.0

require (
	github.com/lanyard-dev/lanyard/envprecedence v0.1.0
	github.com/lanyard-dev/lanyard/redact v0.1.0
	google.golang.org/grpc v1.79.3
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af
	k8s.io/apimachinery v0.36.4
	k8s.io/cri-api v0.36.4
	pgregory.net/rapid v1.3.0
)

require (
	golang.org/x/net v0.56.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/text v0.39.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260128011058-8636f8732409 // indirect
)
