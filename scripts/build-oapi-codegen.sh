#!/bin/sh
# Builds the generator of Go clients of the version of tools/openapi as .tools/oapi-codegen/oapi-codegen, for tests. Exits 1
# where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  gently go -C tools/openapi build -ldflags '-s -w' -o "$1/" github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
}

use_go
build_once oapi-codegen 'the generator of Go clients' build tools/openapi/go.mod tools/openapi/go.sum
