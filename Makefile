# What each target does is said in README.md and CONTRIBUTING.md.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: work tidy

HOUSE := .build/bin/house

$(HOUSE): $(shell find tools -name '*.go' -o -name go.mod -o -name go.sum 2>/dev/null)
	@cd tools && GOWORK=off go build -buildvcs=false -o ../$(HOUSE) ./cmd/house

work: $(HOUSE)
	@$(HOUSE) work

# make tidy [M=module]
tidy: $(HOUSE)
	@$(HOUSE) tidy $(M)
