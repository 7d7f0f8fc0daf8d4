#!/bin/sh
# Builds a control plane, Helm, kubeconform and an ingress controller if there are none, installs AppArmor's parser, and runs the tests that need them: the given files,
# or all of test/e2e. After all of test/e2e, compares the controller's Kubernetes requests with k8s/controller-role.yaml.
# The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
whole=false
if [ $# -eq 0 ]; then
  whole=true
  set -- 'test/e2e/**/*.test.ts'
fi

scripts/build-test-cluster.sh
scripts/build-helm.sh
scripts/build-kubeconform.sh
scripts/install-traefik.sh
(. scripts/fetch.sh && start_work apparmor.lock && require_packages "AppArmor's parser" apparmor)
$whole || exec scripts/run-tests.sh --jobs=2 --timeout=600 "$@"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# Each cluster writes the controller's requests there.
mkdir "$work/verbs"
export CONTROLLER_VERBS_FOLDER="$work/verbs"
# The totals are printed after the comparison. Tests of a control plane wait for half of the time.
{ scripts/run-tests.sh --jobs=3 --timeout=600 "$@" || echo $? >"$work/code"; } | tee "$work/printed" | sed '$d'
totals=$(tail -n 1 "$work/printed")
if [ -s "$work/code" ]; then
  echo "$totals"
  exit "$(cat "$work/code")"
fi
if node tools/role/compare-verbs.ts k8s/controller-role.yaml "$work/verbs"; then
  echo "$totals"
else
  echo "${totals% passed*} passed, 1 failed"
  exit 1
fi
