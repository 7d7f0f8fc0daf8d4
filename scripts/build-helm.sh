#!/bin/sh
# Builds Helm 3 and Helm 4 (tools/helm) into .tools, once per combination of sources and Go version, and points .tools/helm at
# them: helm3, helm4. Silent when they are there. The first build takes three minutes at the lowest priority. Exits 1 where the
# build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
build_limit=20m

. scripts/fetch.sh
# Go must not fetch another Go, nor read settings of a workspace around this checkout.
export GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0 GOFLAGS='-mod=readonly -trimpath -buildvcs=false'
folder=$(scripts/provide-go.sh)
export PATH="$folder:$PATH"

pinned() {
  awk -v module="helm.sh/helm/$1" '$1 == module { print $2 }' go.mod
}

hash=$({ go env GOVERSION GOOS GOARCH; cat tools/helm/go.mod tools/helm/go.sum "$0"; } | sha256sum | cut -c 1-16)
built=$PWD/.tools/helm-$hash
if [ ! -d "$built" ]; then
  start_work helm.lock
  say 'building Helm 3 and 4: some minutes the first time'
  mkdir "$work/built"
  for major in 3 4; do
    (
      cd tools/helm
      nice -n 19 timeout "$build_limit" go build -o "$work/built/helm$major" \
        -ldflags "-s -w -X helm.sh/helm/v$major/internal/version.version=$(pinned "v$major")" "helm.sh/helm/v$major/cmd/helm"
    ) || die "the build failed (see above), or took longer than $build_limit."
  done
  mv -T "$work/built" "$built"
fi

# The link is renamed into place: a reader finds the old build or the new one.
ln -sfn "helm-$hash" .tools/helm.new
mv -T .tools/helm.new .tools/helm
for old in .tools/helm-*; do
  [ "$old" = ".tools/helm-$hash" ] || rm -rf "$old"
done
