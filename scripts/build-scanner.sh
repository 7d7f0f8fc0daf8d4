#!/bin/sh
# Builds the scanner grype of the version of tools/scanner as .tools/scanner/grype, for tests. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  gently go -C tools/scanner build -ldflags '-s -w' -o "$1/grype" github.com/anchore/grype/cmd/grype
}

use_go
build_once scanner 'the scanner grype' build tools/scanner/go.mod tools/scanner/go.sum
