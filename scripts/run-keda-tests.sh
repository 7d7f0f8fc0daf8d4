#!/bin/sh
# Builds a control plane, Prometheus and KEDA if there are none, and runs the tests of test/keda, or the given files. The last line
# is `N passed, N failed`.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/build-test-cluster.sh
scripts/build-prometheus.sh
scripts/build-keda.sh
[ $# -gt 0 ] || set -- 'test/keda/**/*.test.ts'
exec scripts/run-tests.sh --jobs=1 --timeout=600 "$@"
