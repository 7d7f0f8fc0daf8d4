#!/bin/sh
# Builds what a Kubernetes node for tests runs containers with (tools/node: containerd, its shim, ctr, runc) into
# .tools/node-runtime. Installs the headers of libseccomp where they are missing. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh
containerd=github.com/containerd/containerd/v2/cmd

build() {
  require_packages "node runtime" conntrack containernetworking-plugins gcc iptables libc6-dev libseccomp-dev pkg-config
  gently go -C tools/node build -ldflags '-s -w' -o "$1/" \
    "$containerd/containerd" "$containerd/containerd-shim-runc-v2" "$containerd/ctr" || return 1
  # What seccomp profiles are made into filters with.
  gently env CGO_ENABLED=1 go -C tools/node build -tags seccomp -ldflags '-s -w' -o "$1/" github.com/opencontainers/runc
}

use_go
build_once node-runtime 'containerd and runc' build tools/node/go.mod tools/node/go.sum
