#!/usr/bin/env bash
# Builds what a Kubernetes node for tests runs containers with (tools/node: containerd, its shim, ctr, runc) into .tools, once
# per combination of sources and Go version, and points .tools/node-runtime at it. Silent when it is there. The first build
# takes minutes; it runs at the lowest priority. Installs the headers of libseccomp where they are missing. Exits 1 where
# the build fails.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
build_limit=30m
containerd=github.com/containerd/containerd/v2/cmd

. scripts/fetch.sh
# Go must not fetch another Go, nor read settings of a workspace around this checkout.
export GOTOOLCHAIN=local GOWORK=off GOFLAGS='-mod=readonly -trimpath -buildvcs=false'
PATH=$(scripts/provide-go.sh):$PATH
export PATH

hash=$({ go env GOVERSION GOOS GOARCH; cat tools/node/go.mod tools/node/go.sum "$0"; } | sha256sum | cut -c 1-16)
built=$PWD/.tools/node-runtime-$hash
if [ ! -d "$built" ]; then
  start_work node-runtime.lock
  require_packages "node runtime" conntrack containernetworking-plugins gcc iptables libc6-dev libseccomp-dev pkg-config
  say 'building containerd and runc: some minutes the first time'
  gently() { nice -n 19 timeout "$build_limit" "$@"; }
  mkdir "$work/built"
  (
    cd tools/node
    CGO_ENABLED=0 gently go build -ldflags '-s -w' -o "$work/built/" $containerd/{containerd,containerd-shim-runc-v2,ctr}
    # What seccomp profiles are made into filters with.
    CGO_ENABLED=1 gently go build -tags seccomp -ldflags '-s -w' -o "$work/built/" github.com/opencontainers/runc
  ) || die "the build failed (see above), or took longer than $build_limit."
  mv -T "$work/built" "$built"
fi

# The link is renamed into place: a reader finds the old build or the new one.
ln -sfn "node-runtime-$hash" .tools/node-runtime.new
mv -T .tools/node-runtime.new .tools/node-runtime
for old in .tools/node-runtime-*; do
  [ "$old" = ".tools/node-runtime-$hash" ] || rm -rf "$old"
done
