#!/bin/sh
# Builds the images, a control plane, the container runtime and Helm if they have changed, and runs the tests that need real
# nodes: the given files, or all of test/nodes; with --bench runs test/bench/run-nodes.ts instead. Needs root and cgroup v1. Prints
# how long each step took. The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
refuse() {
  echo "test-nodes: $*" >&2
  exit 1
}
# step COMMAND...: runs a step, and prints its seconds if it did anything.
step() {
  started=$(date +%s)
  "$@"
  seconds=$(($(date +%s) - started))
  [ "$seconds" -lt 2 ] || echo "test-nodes: $* took $seconds s"
}
[ "$(id -u)" = 0 ] || refuse 'real nodes need root.'
[ -f /sys/fs/cgroup/memory/tasks ] || refuse 'real nodes need cgroup v1, which is not mounted on this machine.'
unshare --mount --net --pid --fork true || refuse 'real nodes need mount, network and process namespaces, which this machine does not allow.'
[ $# -gt 0 ] || set -- test/nodes/images.test.ts test/nodes/compose.test.ts test/nodes/install.test.ts test/nodes/running.ts

step scripts/build-test-cluster.sh
step scripts/build-node-runtime.sh
step scripts/build-images.sh
step scripts/build-helm.sh
# The installations' bucket: the tests' S3 server, or MinIO.
[ "${TEST_S3:-}" != minio ] || step scripts/build-minio.sh
[ "$1" != --bench ] || exec node test/bench/run-nodes.ts
# One file at a time: each starts a machine's worth of processes.
exec scripts/run-tests.sh --jobs=1 --timeout=2400 "$@"
