#!/bin/sh
# Builds the control plane for tests (tools/k8s) into .tools/test-cluster. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh
programs='etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl kwok'

# pinned MODULE: prints its version in go.mod.
pinned() {
  awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' tools/k8s/go.mod
}

# Linker flags that set the programs' reported versions, which charts and version skew checks read.
version_flags() {
  kubernetes=$(pinned k8s.io/kubernetes)
  minor=${kubernetes#v1.}
  minor=${minor%%.*}
  printf '%s' "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=$(pinned sigs.k8s.io/kwok)"
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf ' -X %s' "$package.gitVersion=$kubernetes" "$package.gitMajor=1" "$package.gitMinor=$minor" \
      "$package.gitTreeState=clean" "$package.buildDate=1970-01-01T00:00:00Z"
  done
}

build() {
  gently go -C tools/k8s build -ldflags "$(version_flags)" -o "$1/kb" . || return 1
  for program in $programs; do ln -s kb "$1/$program"; done
}

use_go
build_once test-cluster "Kubernetes $(pinned k8s.io/kubernetes)" build tools/k8s/go.mod tools/k8s/go.sum tools/k8s/main.go
