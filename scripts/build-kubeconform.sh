#!/bin/sh
# Builds kubeconform (tools/kubeconform) as .tools/kubeconform/kubeconform. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build_program kubeconform kubeconform github.com/yannh/kubeconform/cmd/kubeconform
