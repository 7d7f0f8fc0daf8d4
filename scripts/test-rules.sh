#!/bin/sh
# Checks the alert rules with promtool, which is built with Go the first time, and plays the cases of test/fixtures/rules.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/build-prometheus.sh
.tools/prometheus/promtool check rules --lint=all --lint-fatal charts/shutterfleet/files/rules/*.yaml
exec .tools/prometheus/promtool test rules test/fixtures/rules/*.yaml
