#!/usr/bin/env bash
# Builds Prometheus and promtool of the version of tools/prometheus into .tools, once per version of them and of Go, and points
# .tools/prometheus at it. Silent when it is there. Its service discoveries but those by file and HTTP are left out
# (plugins.yml of its sources): they are most of what is compiled. The first build takes minutes; it runs at the lowest
# priority. Exits 1 where it fails.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
module=github.com/prometheus/prometheus
build_limit=30m

. scripts/fetch.sh
# Go must not fetch another Go, nor read settings of a workspace around this checkout.
export GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0 GOFLAGS='-mod=readonly -trimpath -buildvcs=false'
PATH=$(scripts/provide-go.sh):$PATH
export PATH

hash=$({ go env GOVERSION GOOS GOARCH; cat tools/prometheus/go.mod tools/prometheus/go.sum "$0"; } | sha256sum | cut -c 1-16)
built=$PWD/.tools/prometheus-$hash
if [ ! -d "$built" ]; then
  start_work prometheus.lock
  say 'building Prometheus: some minutes the first time'
  # Compared with go.sum; what it requires is compared with its own.
  sources=$(cd tools/prometheus && go mod download -json "$module" | sed -nE 's/^\s*"Dir": "(.*)",$/\1/p')
  cp -r "$sources" "$work/sources"
  chmod -R u+w "$work/sources"
  rm "$work/sources/plugins/plugins.go"
  mkdir "$work/built"
  version="-X github.com/prometheus/common/version.Version=$(cat "$sources/VERSION")"
  (
    cd "$work/sources"
    nice -n 19 timeout "$build_limit" go build -ldflags "-s -w $version" -o "$work/built/" ./cmd/promtool ./cmd/prometheus
  ) || die "the build failed (see above), or took longer than $build_limit."
  chmod 755 "$work/built"
  mv -T "$work/built" "$built"
fi

# The link is renamed into place: a reader finds the old build or the new one.
ln -sfn "prometheus-$hash" .tools/prometheus.new
mv -T .tools/prometheus.new .tools/prometheus
for old in .tools/prometheus-*; do
  [ "$PWD/$old" = "$built" ] || rm -rf "$old"
done
