#!/bin/sh
# Builds kubeconform (tools/kubeconform) as .tools/kubeconform/kubeconform. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  gently go -C tools/kubeconform build -o "$1/kubeconform" github.com/yannh/kubeconform/cmd/kubeconform
}

use_go
build_once kubeconform kubeconform build tools/kubeconform/go.mod tools/kubeconform/go.sum
