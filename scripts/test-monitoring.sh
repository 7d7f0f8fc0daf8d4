#!/bin/sh
# Checks the alert rules with promtool, plays the cases of test/fixtures/rules, and executes the query of every panel on a
# Prometheus that scrapes the running system, and one that scrapes the controller of a Kubernetes control plane; follows a
# trace to a receiver of OTLP; plants troubles and sees which alerts fire. All programs are built with Go the first time. The
# last line is `N passed, N failed`. `rules` as argument: the rules alone.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/build-prometheus.sh
.tools/prometheus/promtool check rules --lint=all --lint-fatal charts/shutterfleet/files/rules/*.yaml
.tools/prometheus/promtool test rules test/fixtures/rules/*.yaml
[ "${1:-}" != rules ] || exit 0
scripts/build-test-cluster.sh
scripts/build-otlp-receiver.sh
exec scripts/run-tests.sh --jobs=1 --timeout=900 'test/monitoring/**/*.test.ts'
