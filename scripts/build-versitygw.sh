#!/bin/sh
# Builds the S3 gateway of compose.yaml, of the version of tools/versitygw, as .tools/versitygw/versitygw, for tests. Exits 1 where the
# build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  gently go -C tools/versitygw build -ldflags '-s -w' -o "$1/versitygw" github.com/versity/versitygw/cmd/versitygw
}

use_go
build_once versitygw 'the S3 server versitygw' build tools/versitygw/go.mod tools/versitygw/go.sum
