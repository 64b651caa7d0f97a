# What each target does is said in README.md and CONTRIBUTING.md.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: demo bridge bridge-cost stack cost test soak trace kubernetes modules cross api bench fuzz lint sums tidy work parts kubernetes-parts debian debian-containerd commands

BIN   := $(CURDIR)/.build/bin
HOUSE := $(BIN)/house

# The real components that tests and the stack run, at the versions they are tested with.
RUNC_VERSION          := v1.5.2
KUBERNETES_VERSION    := v1.37.2
# The real Kubernetes, the newest that there is as a module. Its own go.mod pins it, and etcd; its stamp carries all of its source.
REAL_KUBERNETES       := $(shell sed -n 's|^\tk8s.io/kubernetes ||p' peers/kubernetes/go.mod)
KUBERNETES_DIGEST     := $(shell cat peers/kubernetes/go.* peers/kubernetes/cmd/*/*.go | sha256sum | cut -c1-12)
CONTAINERD_VERSION    := v2.4.2
IAM_PLUGIN_VERSION    := v0.6.13
ECR_PLUGIN_VERSION    := v1.37.0

# The stamp carries the version, so that a new pin builds anew.
STAMPS := $(addprefix $(BIN)/.stamp/,runc-seccomp-$(RUNC_VERSION) containerd-$(CONTAINERD_VERSION) containerd-envs-$(CONTAINERD_VERSION) \
	aws-iam-authenticator-$(IAM_PLUGIN_VERSION) ecr-credential-provider-$(ECR_PLUGIN_VERSION))

# The components that the tests of one module run; a module that is not listed needs none. The tools' tests run those of every
# other module.
ECR := $(filter %/ecr-credential-provider-$(ECR_PLUGIN_VERSION),$(STAMPS))
IAM := $(filter %/aws-iam-authenticator-$(IAM_PLUGIN_VERSION),$(STAMPS))
NEEDS_credprovider            := $(ECR)
NEEDS_execcredential          := $(IAM)
NEEDS_execaudit               := debian
NEEDS_execaudit/attribution   := debian
NEEDS_execaudit/agent         := debian
NEEDS_execaudit/cmd/execaudit := debian
NEEDS_execaudit/bridge/cmd/lanyard-oci := $(filter %/runc-seccomp-$(RUNC_VERSION),$(STAMPS)) debian-containerd
NEEDS_examples                := parts kubernetes-parts
NEEDS_tools                   := parts

demo: parts
	@$(BIN)/lanyard-stack demo

stack: parts
	@$(BIN)/lanyard-stack up

# Whose process is it, on a Kubernetes as released: the bridge.
bridge: parts kubernetes-parts
	@$(BIN)/lanyard-stack bridge

# What the bridge costs, with it against without it in one run.
bridge-cost: parts kubernetes-parts
	@$(BIN)/lanyard-stack bridge-cost

# What the exec gates cost, gates on against off in one run.
cost: parts
	@$(BIN)/lanyard-stack cost

# make test [M=module]: one module's tests wait only for the real components that they run.
test: $(HOUSE) $(if $(M),$(NEEDS_$(M)),parts kubernetes-parts)
	@$(HOUSE) test $(M)

# make soak [M=module]: the long tests at their full sizes. Attribution's have one goroutine each: in `make test` they run under
# the race detector, with ten million events it would take hours.
PURE_SOAK := execaudit/attribution
soak: $(HOUSE) $(if $(filter $(PURE_SOAK),$(M)),,parts kubernetes-parts)
	@$(if $(filter $(PURE_SOAK),$(M)),,LANYARD_SOAK=1 $(HOUSE) test $(or $(M),examples))
	@$(if $(filter-out $(PURE_SOAK),$(M)),,cd $(PURE_SOAK) && LANYARD_SOAK=1 go test -count=1 -timeout 60m -v -run 'TestTruth|TestDay' .)

# make trace [M=FAMILY]
trace: $(HOUSE) parts kubernetes-parts
	@$(HOUSE) trace $(M)

# A real Kubernetes: built, started, each module's smoke test on it, with the times.
kubernetes:
	@TIMEFORMAT='built in %Rs'; time $(MAKE) --no-print-directory parts kubernetes-parts
	@cd examples && go test -count=1 -v ./kubernetes/...

# make modules [M=module]
modules: $(HOUSE)
	@$(HOUSE) modules $(M)

cross: $(HOUSE)
	@$(HOUSE) cross $(M)

api: $(HOUSE)
	@$(HOUSE) api $(M)

bench: $(HOUSE)
	@$(HOUSE) bench $(M)

# make fuzz T=30s [M=module]
T ?= 30s
fuzz: $(HOUSE)
	@$(HOUSE) fuzz $(T) $(M)

lint: $(HOUSE) $(BIN)/staticcheck $(BIN)/gofumpt
	@$(HOUSE) lint $(M)

sums: $(HOUSE)
	@$(HOUSE) sums

tidy: $(HOUSE)
	@$(HOUSE) tidy $(M)

work: $(HOUSE)
	@$(HOUSE) work

$(HOUSE): $(shell find tools -name '*.go' -o -name go.mod -o -name go.sum)
	@cd tools && GOWORK=off go build -buildvcs=false -o $(HOUSE) ./cmd/house

$(BIN)/staticcheck $(BIN)/gofumpt &: tools/go.mod tools/go.sum
	@cd tools && GOWORK=off GOBIN=$(BIN) go install tool
	@touch $(BIN)/staticcheck $(BIN)/gofumpt

parts: $(STAMPS) debian debian-containerd commands

kubernetes-parts: $(BIN)/.stamp/kubernetes-$(KUBERNETES_DIGEST)

# Debian's packages: chromium opens the HTML report, jq is one of those that join logs in make bench, conmon is CRI-O's monitor, clang and llvm
# compile the kernel's programs, libseccomp goes into runc. Where they cannot be had, what needs them says so.
debian:
	@for package in chromium jq conmon clang-14; do command -v $$package >/dev/null || missing="$$missing $$package"; done; \
	command -v llvm-strip-14 >/dev/null || missing="$$missing llvm-14"; \
	pkg-config --exists libseccomp 2>/dev/null || missing="$$missing libseccomp-dev pkg-config"; \
	if [ -n "$$missing" ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing >/dev/null || echo "not installed:$$missing"; \
	fi

# An older containerd with its runc, and crun: unpacked, not installed. What apt-get downloads is what Debian has today.
debian-containerd: | debian
	@if [ ! -x $(BIN)/debian/crun ] && command -v apt-get >/dev/null; then \
		mkdir -p $(BIN)/debian && dir=$$(mktemp -d) && cd "$$dir" && \
		apt-get -qq update && apt-get -qq -o APT::Sandbox::User=root download containerd runc crun libyajl2 && \
		ls *.deb | xargs -I{} dpkg -x {} . && \
		cp -L --remove-destination usr/bin/containerd usr/bin/containerd-shim-runc-v2 usr/bin/ctr usr/sbin/runc usr/lib/*/libyajl.so.2 usr/bin/crun $(BIN)/debian/ || echo "not fetched: containerd of Debian"; \
		rm -rf "$$dir"; \
	fi

# The stack's own programs: static, because one of them is the only file in our images. The bridge's and the agent, as they are installed.
commands:
	@cd examples && CGO_ENABLED=0 go build -buildvcs=false -ldflags='-s -w -X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION)' \
		-o $(BIN)/ ./cmd/... ./kubectl ./kubectl-exec_env
	@for dir in bridge/cmd/lanyard-oci bridge/cmd/lanyard-bridge agent/cmd/execaudit-agent; do \
		(cd execaudit/$$dir && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags='-s -w' -o $(BIN)/ .) || exit 1; done

# Kubernetes wants a runc with seccomp. Without libseccomp's package it is built without, and anew by the next make that has it.
$(BIN)/.stamp/runc-seccomp-%: | debian
	@mkdir -p $(@D)
	@if pkg-config --exists libseccomp; then tags=seccomp; fi; set -x; \
	GOBIN=$(BIN) CGO_ENABLED=1 go install -tags="$$tags" github.com/opencontainers/runc@$* && if [ "$$tags" ]; then touch $@; fi

$(BIN)/.stamp/containerd-%:
	GOBIN=$(BIN) go install github.com/containerd/containerd/v2/cmd/{containerd,containerd-shim-runc-v2,ctr}@$*
	@mkdir -p $(@D) && touch $@

# containerd with our modules in its exec path, anew when they change. Go's cache has all but what changed and the link.
$(BIN)/.stamp/containerd-envs-%: $(shell find peers/containerd envprecedence execaudit redact -name '*.go' ! -name '*_test.go' -o -name go.mod -o -name go.sum)
	cd peers/containerd && GOWORK=off go run ./cmd/integrate -work $(CURDIR)/.build/containerd-envs -output $(BIN)/containerd-envs
	@mkdir -p $(@D) && touch $@

$(BIN)/.stamp/aws-iam-authenticator-%:
	GOBIN=$(BIN) go install sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator@$*
	@mkdir -p $(@D) && touch $@

$(BIN)/.stamp/ecr-credential-provider-%:
	GOBIN=$(BIN) go install k8s.io/cloud-provider-aws/cmd/ecr-credential-provider@$*
	@mkdir -p $(@D) && touch $@

# They have nothing in common with the tree: the first build takes minutes.
$(BIN)/.stamp/kubernetes-%:
	@mkdir -p $(@D)
	cd peers/kubernetes && GOWORK=off CGO_ENABLED=0 go build -buildvcs=false \
		-ldflags='-s -w -X k8s.io/component-base/version.gitVersion=$(REAL_KUBERNETES)' -o $(BIN)/ ./cmd/...
	@touch $@
