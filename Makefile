# `make help` lists the targets. ARGS is passed on: make up ARGS='--port 8080', make test ARGS=test/unit/shared
SHELL := /bin/sh
export PATH := $(CURDIR)/.tools/node-24.21.0/bin:$(CURDIR)/node_modules/.bin:$(PATH)

OUT ?= capture.png
# As typed, not read by make, and handed over by the environment, not by the shell: addresses are full of $ and &.
override URL := $(value URL)
override OUT := $(value OUT)
export URL OUT

.PHONY: help setup packages up down test test-integration test-pages test-all chaos test-faults test-contract test-mutations test-cluster test-keda test-s3 test-lab test-monitoring draw-dashboards draw-console pictures test-nodes test-release release rebuild images check docs bench bench-autoscaler bench-cluster bench-nodes bench-http bench-before-key bench-flow bench-compare bench-compare-proof capture
.PHONY: check-lint check-format check-dead check-pages check-rules check-workflows

help: ## lists the targets
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 26

setup: ## installs what is missing: Node, npm packages, PostgreSQL, Chromium, NATS, fonts
	@scripts/install-system.sh
	@scripts/bootstrap.sh

packages: ## installs only Node, the npm packages, block lists and console
	@scripts/bootstrap.sh

up: setup ## starts the whole system on this machine until Ctrl-C
	@exec bin/shutterfleet up $(ARGS)

down: ## drains and stops what `make up` started
	@exec bin/shutterfleet down $(ARGS)

test: setup ## runs the unit and tidy tests, and the integration tests of each promise to callers: real PostgreSQL, NATS, Chromium and a test S3; or ARGS='FILE FOLDER'
	@$(if $(ARGS),scripts/install-gallery.sh && scripts/install-firefox.sh)
	@scripts/run-tests.sh $(ARGS)
	@$(if $(ARGS),,echo 'Not run: the other integration tests (make test-integration, make test-pages), and what make help lists as test-…, chaos and check. make test-all runs all that CI runs, in an hour or more.')

test-integration: setup ## runs the integration tests that make test and make test-pages leave out
	@scripts/install-firefox.sh
	@scripts/run-tests.sh others

test-pages: setup ## captures pages of libraries, templates and real sites, and compares them with a bare browser
	@scripts/install-gallery.sh
	@scripts/run-tests.sh pages

test-all: ## runs all that CI runs (root): check, test, test-integration, test-contract, test-cluster, chaos, faults
	@exec env TEST_SHARD=1/1 .ci/run

test-faults: setup ## simulates each fault of a cluster in RUNS=50 runs with simulated time, and opens the hostile pages that take long
	@scripts/run-tests.sh --timeout=900 $(if $(ARGS),$(ARGS),'test/faults/**/*.test.ts')

test-lab: setup ## runs what the benchmarks measure in its smallest form, and the laws of other autoscalers that they compare with
	@scripts/install-gallery.sh
	@scripts/build-test-cluster.sh
	@scripts/run-tests.sh --timeout=900 $(if $(ARGS),$(ARGS),'test/lab/*.test.ts')

test-contract: setup ## lints the OpenAPI document, captures with clients generated from it (Python, Go), then sends a gateway what it allows and forbids, with schemathesis: EXAMPLES=100 for each operation
	@scripts/run-contract-tests.sh $(ARGS) $(if $(EXAMPLES),--max-examples=$(EXAMPLES))

test-mutations: setup ## breaks the code and sees a test fail: at each contract point (ARGS='a word of it'), or ARGS='--since main' at random
	@exec node test/mutations/run.ts $(ARGS)

chaos: setup ## runs the real system under seeded faults and checks what clients saw (root): RUNS=20 SEED=1; ARGS=representative: each fault once; ARGS=bite: without guards, it must fail; ARGS=kills: the longest capture while each process is killed; ARGS=failovers: of PostgreSQL under load
	@scripts/run-chaos.sh $(ARGS) $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED))

test-cluster: setup ## runs the tests that need a Kubernetes control plane, which is built with Go 1.26 the first time
	@scripts/run-cluster-tests.sh $(ARGS)

test-keda: setup ## scales a pool by the documented ScaledObject on KEDA, which is built with Go 1.26 the first time
	@scripts/run-keda-tests.sh $(ARGS)

test-s3: setup ## runs the tests of the object store and captures into it on MinIO, or with TEST_S3=versitygw on the server of compose.yaml, which is built with Go 1.26 the first time
	@scripts/run-s3-tests.sh $(ARGS)

test-monitoring: setup ## runs the cases of the alert rules, executes every panel's query on a real Prometheus, plants troubles, follows a trace; ARGS=rules for the rules alone
	@scripts/test-monitoring.sh $(ARGS)

draw-dashboards: setup ## draws the dashboards from live data into docs/images; three minutes
	@scripts/build-prometheus.sh
	@exec node test/monitoring/draw.ts

draw-console: setup ## draws pages of the console from live data into docs/images
	@exec node test/pictures/draw-console.ts

pictures: setup ## captures the pages of the gallery beside a bare browser and draws all on .tools/pictures/contact-sheet.png; ARGS=10: ten captures each, which must be equal
	@scripts/install-gallery.sh
	@exec node test/pictures/draw.ts $(ARGS)

test-nodes: setup ## builds the images and runs them, and the chart by Helm 3 and 4, on real Kubernetes nodes in namespaces of this machine (root, cgroup v1)
	@scripts/run-node-tests.sh $(ARGS)

images: ## builds the images into .tools/images without a container engine (root); with Docker: docker build --target server .
	@scripts/build-images.sh $(ARGS)

release: packages ## makes the release of this commit and publishes it (docs/releases.md): VERSION=1.2.3 REGISTRY=images.example.com/team
	@scripts/release.sh

rebuild: packages ## publishes the images of a release again if the distribution has a newer Chromium (docs/releases.md): VERSION=1.2.3 REGISTRY=…; ARGS=look only looks
	@scripts/rebuild.sh $(ARGS)

test-release: packages ## releases into a registry on this machine, installs, verifies and rebuilds what was published, scans contents; builds the programs once (Go 1.26)
	@scripts/build-release-tools.sh
	@scripts/build-helm.sh
	@scripts/build-scanner.sh
	@scripts/run-tests.sh --timeout=900 'test/release/*.test.ts'

check: packages ## types, lint, format, dead code, tidy rules, generated files
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-lint check-rules check-format check-dead check-pages
check-lint: ## the part of `make check` that lints, with types
	oxlint
check-format: ## the part of `make check` that checks the format
	oxfmt --check
check-dead: ## the part of `make check` that finds unused code
	knip
check-pages: ## the part of `make check` that compares generated files
	node tools/docs/generate.ts --check
check-rules: ## the part of `make check` that checks the tidy rules
	scripts/run-tests.sh --timeout=1800 test/tidy/rules.ts

check-workflows: packages ## checks the workflows of .github with actionlint and zizmor, of which the first is built with Go 1.26
	@scripts/check-workflows.sh

docs: packages ## writes the pages that are generated from the code
	node tools/docs/generate.ts

bench-cluster: setup ## measures the operator on a real control plane and writes its parts of docs/benchmarks.md; ARGS=reactions for one part (reactions, operator)
	@scripts/build-test-cluster.sh
	@exec node test/bench/run-cluster.ts $(ARGS)

bench-nodes: setup ## measures installation, a start from zero and proxied captures on real nodes and writes its part of docs/benchmarks.md (root, cgroup v1)
	@scripts/run-node-tests.sh --bench

bench-http: setup ## measures the HTTP interface and writes its parts of docs/benchmarks.md, each at once; ARGS=removal for one part (rates, webhooks, removal, memory, replica, router, rows), ARGS='--rows 1000000' for fewer rows
	@exec node test/bench/run-http.ts $(ARGS)

bench-autoscaler: setup ## simulates the control law beside those of other autoscalers and writes its parts of docs/simulations.md; 25 minutes, ARGS=laws for one part (laws, batches, conditions, drains, replay, flash)
	@exec node test/bench/autoscaler/run-autoscaler.ts $(ARGS)

bench-before-key: packages ## measures what hostile requests without a valid key cost the gateway's event loop and writes its part of docs/benchmarks.md; exit 1 above 10 ms
	@exec node test/bench/run-before-key.ts $(ARGS)

bench-flow: setup ## measures what carries captures, with stand-ins of workers instead of browsers, and writes its parts of docs/benchmarks.md; 10 minutes, ARGS=kinds for one part (kinds, accounts, slots, replicas, waiting, rows, profile, disk), ARGS='rows --rows 1000000,20000000' for more rows (15 GB of disk and more), ARGS='waiting --waiting 1000000' for more that wait (6 GB, 15 minutes), ARGS='kinds --short' measures less and writes nothing
	@exec node test/bench/flow/run-flow.ts $(ARGS)

# The pace that later commits are held to (nightly workflow); a commit that is slower on purpose replaces it and says why.
BASE ?= fddca2cf
bench-compare: setup ## compares the working tree with BASE=<commit>, else with the recorded one, in turns; exit 1 where it is worse. MINUTES=15 PARTS=start,flow,idle,capture,png,pdf,accounts,accept,lists
	@exec node test/bench/compare/run.ts --base '$(BASE)' $(if $(PARTS),--parts '$(PARTS)') $(if $(MINUTES),--minutes '$(MINUTES)')

bench-compare-proof: setup ## compares a commit with itself and with a planted fault, ten times each, and writes its parts of docs/benchmarks.md, each at once; an hour; ARGS=planted for one part (equal, planted)
	@exec node test/bench/compare/prove.ts $(ARGS)

bench: setup ## runs the benchmarks and writes docs/benchmarks.md; ARGS=engine for one part (start, idle, small, callers, accounts, accept, partitions, batch, engine, lasting, pages, telemetry), ARGS='engine --short' measures less and writes nothing
	@scripts/install-gallery.sh
	@exec node test/bench/run.ts $(ARGS)

capture: ## captures URL=... into OUT=capture.png with the running service
	@test -n "$$URL" || { echo "make capture: say what to capture: make capture URL=https://example.com OUT=capture.png" >&2; exit 2; }
	@exec bin/shutterfleet capture "$$URL" -o "$$OUT" $(ARGS)
