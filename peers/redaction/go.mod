module github.com/lanyard-dev/lanyard/peers/redaction

go 1.26.0

require golang.org/x/tools v0.51.0

require (
	github.com/lanyard-dev/lanyard/internal/flight v0.1.0 // indirect
	github.com/lanyard-dev/lanyard/internal/terminal v0.1.0 // indirect
)

require (
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/docker/cli v29.7.2+incompatible // indirect
	github.com/docker/docker-credential-helpers v0.9.3 // indirect
	github.com/fxamacker/cbor/v2 v2.9.1 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/google/go-containerregistry v0.22.1 // indirect
	github.com/gorilla/websocket v1.5.4-0.20250319132907-e064f32e3674 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/lanyard-dev/lanyard/redact v0.1.0
	github.com/moby/spdystream v0.5.1 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/opencontainers/runtime-spec v1.2.1 // indirect
	github.com/sirupsen/logrus v1.9.4 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/term v0.46.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/time v0.14.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260128011058-8636f8732409 // indirect
	google.golang.org/grpc v1.79.3 // indirect
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	k8s.io/api v0.36.4 // indirect
	k8s.io/apimachinery v0.36.4 // indirect
	k8s.io/apiserver v0.36.4 // indirect
	k8s.io/client-go v0.36.4 // indirect
	k8s.io/cri-api v0.36.4 // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
	k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad // indirect
	k8s.io/streaming v0.36.4 // indirect
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // indirect
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // indirect
	sigs.k8s.io/randfill v1.0.0 // indirect
	sigs.k8s.io/structured-merge-diff/v6 v6.4.2 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)

require (
	github.com/lanyard-dev/lanyard/credprovider v0.1.0
	github.com/lanyard-dev/lanyard/criconformance v0.1.0
	github.com/lanyard-dev/lanyard/envprecedence v0.1.0
	github.com/lanyard-dev/lanyard/execaudit v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/attribution v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/bridge v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/journal v0.1.0
	github.com/lanyard-dev/lanyard/execcredential v0.1.0
	github.com/lanyard-dev/lanyard/kubeletauthz v0.1.0
	github.com/lanyard-dev/lanyard/kubeletauthz/apiserver v0.1.0
	github.com/lanyard-dev/lanyard/pluginexec v0.1.0
	github.com/lanyard-dev/lanyard/supgroups v0.1.0
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
)

replace github.com/lanyard-dev/lanyard/envprecedence => ../../envprecedence

replace github.com/lanyard-dev/lanyard/execaudit => ../../execaudit

replace github.com/lanyard-dev/lanyard/execaudit/attribution => ../../execaudit/attribution

replace github.com/lanyard-dev/lanyard/execaudit/journal => ../../execaudit/journal

replace github.com/lanyard-dev/lanyard/supgroups => ../../supgroups

replace github.com/lanyard-dev/lanyard/kubeletauthz => ../../kubeletauthz

replace github.com/lanyard-dev/lanyard/kubeletauthz/apiserver => ../../kubeletauthz/apiserver

replace github.com/lanyard-dev/lanyard/pluginexec => ../../pluginexec

replace github.com/lanyard-dev/lanyard/credprovider => ../../credprovider

replace github.com/lanyard-dev/lanyard/execcredential => ../../execcredential

replace github.com/lanyard-dev/lanyard/execcredential/restconfig => ../../execcredential/restconfig

replace github.com/lanyard-dev/lanyard/criconformance => ../../criconformance

replace github.com/lanyard-dev/lanyard/redact => ../../redact

replace github.com/lanyard-dev/lanyard/internal/flight => ../../internal/flight

replace github.com/lanyard-dev/lanyard/internal/terminal => ../../internal/terminal

replace github.com/lanyard-dev/lanyard/execaudit/bridge => ../../execaudit/bridge
