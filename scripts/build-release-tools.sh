#!/bin/sh
# Builds crane, cosign and the registry of the release's tests (tools/release) into .tools/release-tools. Exits 1 where the build
# fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  for program in github.com/google/go-containerregistry/cmd/crane github.com/distribution/distribution/v3/cmd/registry \
    github.com/sigstore/cosign/v3/cmd/cosign; do
    gently go -C tools/release build -o "$1/" -ldflags '-s -w' "$program" || return 1
  done
}

use_go
build_once release-tools 'the programs of releases' build tools/release/go.mod tools/release/go.sum
