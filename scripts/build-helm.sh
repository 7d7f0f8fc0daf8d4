#!/bin/sh
# Builds Helm 3 and Helm 4 (tools/helm) as .tools/helm/helm3 and helm4. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

pinned() {
  awk -v module="helm.sh/helm/$1" '$1 == module { print $2 }' tools/helm/go.mod
}

build() {
  for major in 3 4; do
    version="helm.sh/helm/v$major/internal/version.version=$(pinned "v$major")"
    gently go -C tools/helm build -o "$1/helm$major" -ldflags "-s -w -X $version" "helm.sh/helm/v$major/cmd/helm" || return 1
  done
}

use_go
build_once helm 'Helm 3 and 4' build tools/helm/go.mod tools/helm/go.sum
