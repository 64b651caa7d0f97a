module github.com/lanyard-dev/lanyard/peers/runtimetools

go 1.25

require (
	github.com/lanyard-dev/lanyard/envprecedence v0.1.0
	github.com/opencontainers/runtime-spec v1.2.1
	github.com/opencontainers/runtime-tools v0.9.0
)

require (
	github.com/blang/semver v3.5.1+incompatible // indirect
	github.com/cyphar/filepath-securejoin v0.5.1 // indirect
	github.com/hashicorp/errwrap v1.0.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/lanyard-dev/lanyard/redact v0.1.0 // indirect
	github.com/opencontainers/selinux v1.15.1 // indirect
	github.com/sirupsen/logrus v1.10.2 // indirect
	github.com/syndtr/gocapability v0.0.0-20200815063812-42c35b437635 // indirect
	github.com/xeipuuv/gojsonpointer v0.0.0-20180127040702-4e3ac2762d5f // indirect
	github.com/xeipuuv/gojsonreference v0.0.0-20180127040603-bd5ef7bd5415 // indirect
	github.com/xeipuuv/gojsonschema v1.2.0 // indirect
	golang.org/x/sys v0.26.0 // indirect
)

replace (
	github.com/lanyard-dev/lanyard/envprecedence => ../../envprecedence
	github.com/lanyard-dev/lanyard/redact => ../../redact
)
