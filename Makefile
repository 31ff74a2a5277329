# Copyright The Fairlead Authors.
# SPDX-License-Identifier: Apache-2.0

# Needed: Go, git, make, and a C compiler (gcc or clang; the race detector of `make test` wants it).
# Everything else is compiled from Go modules at the versions that go.mod and hack/tools/*/go.mod pin.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# ARGS are passed on: make run ARGS="--workers=4 -v=2"
ARGS ?=

# Endpoints of `make run`, on this machine alone. The log tells the ports; flags in ARGS win. Webhooks are registered by URL if
# the API server can reach this machine's loopback address, and taken back at the end.
RUN_FLAGS := --health-bind-address=127.0.0.1:0 --metrics-bind-address=127.0.0.1:0 --profiling --debug-bind-address=127.0.0.1:0 \
  --webhook-bind-address=127.0.0.1:0 --webhook-url=https://127.0.0.1:0

CLUSTER_SOURCES := hack/build-cluster.sh $(shell find hack/cluster -type f -not -name '*_test.go' -not -name '*.md')

##@ Run

.PHONY: demo
demo: build ## Show the operator at work, on an embedded cluster. ONCE=1: to the end and exit. FAIRLEAD_CLUSTER=current: on kubectl's
ifneq ($(FAIRLEAD_CLUSTER),current)
	@$(MAKE) cluster apiserver
endif
	@hack/build.sh ./hack/demo fairlead-demo
	@exec bin/fairlead-demo $(ARGS)

.PHONY: tour
tour: build cluster ## Show a rollback, a changed Secret, a changed class and a changed kind of route, on an embedded cluster
	@hack/build.sh ./hack/demo fairlead-demo
	@exec bin/fairlead-demo -tour $(ARGS)

.PHONY: run
run: build ## Run the controller on this machine, against $KUBECONFIG or ~/.kube/config. ARGS="--workers=4": more flags
	@echo "next, in another terminal: kubectl apply -f artifacts/examples/minimal.yaml && kubectl get applications.apps.fairlead.dev --watch"
	@exec bin/fairlead-controller $(RUN_FLAGS) $(ARGS)

.PHONY: install
install: ## Install the CRDs into the cluster of $KUBECONFIG or ~/.kube/config
	@go run -buildvcs=false ./hack/deploy $(ARGS) install-crds

.PHONY: uninstall
uninstall: ## Delete the CRDs, and with them every Application and its children. Asks first; ARGS=-yes: not, as a script needs
	@go run -buildvcs=false ./hack/deploy $(ARGS) uninstall-crds

##@ Run in a cluster

# IMAGE names the image, for `make image` to build and for `make deploy` to run.
IMAGE ?=
# OVERLAY is what to deploy, of artifacts/overlays or of your own.
OVERLAY ?= artifacts/overlays/default

.PHONY: image
image: ## Build the image of controller and API server with docker, podman or buildah. IMAGE=registry.example.com/fairlead-controller:v1
	@IMAGE="$(IMAGE)" hack/image.sh $(ARGS)

.PHONY: deploy
deploy: ## Run the operator in the cluster of $KUBECONFIG or ~/.kube/config. IMAGE=its image, OVERLAY=another directory
	@go run -buildvcs=false ./hack/deploy --overlay="$(OVERLAY)" --image="$(IMAGE)" $(ARGS) install

.PHONY: undeploy
undeploy: ## Take the operator out again. Applications and their children stay, unless DELETE_CRDS=1, which asks first; ARGS=-yes: not
	@go run -buildvcs=false ./hack/deploy --overlay="$(OVERLAY)" $(if $(filter 1,$(DELETE_CRDS)),--delete-crds) $(ARGS) uninstall

##@ Build

.PHONY: build
build: ## Compile bin/fairlead-controller
	@hack/build.sh ./cmd/fairlead-controller

.PHONY: apiserver
apiserver: ## Compile bin/fairlead-apiserver, the optional aggregated API server
	@hack/build.sh ./cmd/fairlead-apiserver

.PHONY: plugin
plugin: ## Compile bin/kubectl-fairlead, the plugin for kubectl, and put its completion beside it
	@hack/build.sh ./cmd/kubectl-fairlead
	@cp cmd/kubectl-fairlead/kubectl_complete-fairlead bin/

.PHONY: cluster
cluster: bin/fairlead-cluster bin/kwok ## Compile the embedded control plane into bin/, if its sources changed
	@$(if $(filter cluster,$(MAKECMDGOALS)),echo ">> next: bin/fairlead-cluster up",:)

# The compiler must work through Kubernetes and etcd once, which takes minutes; the script says so and shows how far it is.
bin/fairlead-cluster: $(CLUSTER_SOURCES)
	@hack/build-cluster.sh
	@touch bin/fairlead-cluster bin/kwok

bin/fairlead-cluster-%: $(CLUSTER_SOURCES)
	@hack/build-cluster.sh cluster $*
	@touch $@

bin/kwok: bin/fairlead-cluster
	@[[ -x $@ ]] || hack/build-cluster.sh

.PHONY: generate
generate: ## Regenerate code, CRDs, docs/api.md, docs/fields.md and the rendered manifests, after a change of pkg/apis or artifacts
	@hack/update-codegen.sh
	@go test -buildvcs=false -count=1 ./hack/artifacts -run '^TestGenerated$$' -update
	@go test -buildvcs=false -count=1 ./hack/fields -update
	@go -C hack/chart test -buildvcs=false -count=1 . -update

.PHONY: clean
clean: ## Delete what the other targets made in this directory (not Go's caches)
	rm -rf bin dist hack/dashboards/node_modules hack/site/node_modules hack/site/.pages hack/site/.vitepress/cache

##@ Release

# VERSION is what `make release` releases. REGISTRY, DOWNLOADS and SOURCE are where images, files and source will be.
VERSION ?=
RELEASE_FLAGS := $(if $(REGISTRY),-registry="$(REGISTRY)") $(if $(DOWNLOADS),-downloads="$(DOWNLOADS)") $(if $(SOURCE),-source="$(SOURCE)")

.PHONY: release
release: ## Write everything that a release has into dist: make release VERSION=v0.2.0. COSIGN_PRIVATE_KEY in the environment signs it
	@go -C hack/release build -buildvcs=false -o "$(CURDIR)/bin/fairlead-release" .
	@exec bin/fairlead-release -version="$(VERSION)" $(RELEASE_FLAGS) $(ARGS)

.PHONY: site
site: ## Write a static site of the documents into dist/site, and check it. Needs npm and chromium. ARGS=-serve: look at it
	@go -C hack/site build -buildvcs=false -o "$(CURDIR)/bin/fairlead-site" .
	@exec bin/fairlead-site -version="$(VERSION)" $(ARGS)

.PHONY: release-check
release-check: ## Release twice, compare byte by byte, and verify signatures and checksums as a user does. VERSION=v0.2.0; slow
	@hack/release-check.sh "$(VERSION)" $(RELEASE_FLAGS) $(ARGS)

.PHONY: chart-test
chart-test: cluster ## Install, upgrade, roll back and uninstall the chart with Helm, on an embedded cluster. Compiles Helm first
	@go -C hack/chart test -buildvcs=false -count=1 -timeout=30m -v ./lifecycle

##@ Check

# K8S is an older Kubernetes to test with, of those that hack/cluster/k8s-*.mod pin.
K8S ?=

.PHONY: test
test: cluster $(if $(K8S),bin/fairlead-cluster-$(K8S)) ## Run the tests with the race detector, those on a real API server too. K8S=1.34: on an older one
	@$(if $(K8S),FAIRLEAD_CLUSTER_BIN="$(CURDIR)/bin/fairlead-cluster-$(K8S)") hack/test.sh $(ARGS)

.PHONY: test-docs
test-docs: cluster ## Run the commands of the README and the documents, one after the other, on a real API server
	@hack/test.sh --docs $(ARGS)

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster, without the race detector: quick
	@hack/test.sh --unit $(ARGS)

# DURATION is how long these look: 10 minutes, or an hour for `make soak`.
fuzz chaos: DURATION ?= 10m
soak: DURATION ?= 1h
# PLANTS=all plants bugs, one at a time, and shows what catches each.
PLANTS ?=

.PHONY: fuzz
fuzz: cluster ## Draw objects from the schema for DURATION=10m, and try what the controller and an API server make of them
	@hack/fuzz.sh "$(DURATION)" $(ARGS)

.PHONY: chaos
chaos: cluster ## Disturb the controller, as drawn, for DURATION=10m, and judge where it ends. PLANTS=all: plant bugs for it to find
	@PLANTS="$(PLANTS)" hack/chaos.sh "$(DURATION)" $(ARGS)

# NEIGHBOURS are those to test with, of hack/neighbours.sh.
NEIGHBOURS ?=

.PHONY: neighbours
neighbours: build apiserver cluster ## Compile what people run beside Fairlead, such as Flux, and test with it. NEIGHBOURS="prometheus": only that
	@hack/neighbours.sh $(NEIGHBOURS) $(ARGS)

.PHONY: dashboards
dashboards: build cluster bin/dashboards/page.js ## Draw docs/images/dashboard-*.png with Grafana's components over a real Prometheus. Needs npm, chromium and prometheus
	@hack/neighbours.sh dashboards -pictures="$(CURDIR)/docs/images" $(ARGS)

bin/dashboards/page.js: hack/dashboards/node_modules/.package-lock.json $(wildcard hack/dashboards/*.js hack/dashboards/*.jsx)
	@rm -rf bin/dashboards
	@npm --prefix hack/dashboards run --silent build

# npm ci compares each package with its hash. No package runs code while it is installed.
hack/dashboards/node_modules/.package-lock.json: hack/dashboards/package-lock.json
	@npm --prefix hack/dashboards ci --ignore-scripts --no-audit --no-fund
	@touch $@

.PHONY: soak
soak: build cluster ## Let the controller follow changes through faults for DURATION=1h, and chart its memory
	@hack/build.sh ./hack/bench fairlead-bench
	@exec bin/fairlead-bench -goals=G11 -soak="$(DURATION)" $(ARGS)

.PHONY: e2e
e2e: cluster bin/fairlead-node ## Try the operator on a real node on this machine. Needs Linux, root and a few packages. ARGS=-stay: to play with it
	@hack/build.sh ./hack/e2e fairlead-e2e
	@exec bin/fairlead-e2e $(ARGS)

.PHONY: bench
bench: build apiserver cluster ## Measure the controller against the goals of docs/performance.md. ARGS="-n=10000 -goals=G1,G3": see ARGS=-help
	@hack/build.sh ./hack/bench fairlead-bench
	@exec bin/fairlead-bench $(ARGS)

# Like the control plane: minutes the first time.
bin/fairlead-node: hack/build-cluster.sh hack/e2e/node/main.go hack/e2e/node/go.mod
	@hack/build-cluster.sh node
	@touch $@

.PHONY: lint
lint: ## Check the style: gofmt, golangci-lint, logcheck, shellcheck, shfmt
	@hack/lint.sh

.PHONY: verify
verify: ## Check generated files, go.mod files, formatting, license headers, API compatibility, licenses and, with GOVULNDB, vulnerabilities
	@hack/verify.sh

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities with govulncheck. GOVULNDB=https://vuln.go.dev
	@GOVULNDB="$(GOVULNDB)" hack/vulnerabilities.sh

##@ Help

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## "; print "Usage: make TARGET" } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  %-13s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
