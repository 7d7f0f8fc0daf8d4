#!/bin/sh
# Builds Prometheus and promtool of the version of tools/prometheus as .tools/prometheus/prometheus and promtool. Its service
# discoveries but those by file and HTTP are left out (plugins.yml of its sources, and what promtool knows of Kubernetes): they
# are most of what is compiled. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  # Compared with go.sum; what it requires is compared with its own.
  sources=$(go -C tools/prometheus mod download -json github.com/prometheus/prometheus | sed -nE 's/^\s*"Dir": "(.*)",$/\1/p')
  cp -r "$sources" "$work/sources" && chmod -R u+w "$work/sources" && rm "$work/sources/plugins/plugins.go" || return 1
  sed -i -e '/discovery\/kubernetes"/d' -e '/case \*kubernetes.SDConfig:/,+3d' "$work/sources/cmd/promtool/main.go" || return 1
  version="-X github.com/prometheus/common/version.Version=$(cat "$sources/VERSION")"
  gently go -C "$work/sources" build -ldflags "-s -w $version" -o "$1/" ./cmd/promtool ./cmd/prometheus
}

use_go
build_once prometheus Prometheus build tools/prometheus/go.mod tools/prometheus/go.sum
