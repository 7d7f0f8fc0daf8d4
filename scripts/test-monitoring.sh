#!/bin/sh
# Checks the alert rules with promtool and the cases of test/fixtures/rules. Runs every panel's query on a Prometheus that
# scrapes the running system, and on one that scrapes the controller of a Kubernetes control plane; checks that a trace reaches
# an OTLP receiver, and that injected faults fire their alerts. All programs are built with Go the first time. The last line
# is `N passed, N failed`. With the argument `rules` checks the rules only.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/build-prometheus.sh
.tools/prometheus/promtool check rules --lint=all --lint-fatal charts/shutterfleet/files/rules/*.yaml
.tools/prometheus/promtool test rules test/fixtures/rules/*.yaml
[ "${1:-}" != rules ] || exit 0
scripts/build-test-cluster.sh
scripts/build-otlp-receiver.sh
# They mostly wait.
exec scripts/run-tests.sh --jobs=3 --timeout=900 'test/monitoring/**/*.test.ts'
