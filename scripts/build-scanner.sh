#!/bin/sh
# Builds the scanner grype of the version of tools/scanner as .tools/scanner/grype, for tests. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build_program scanner 'the scanner grype' github.com/anchore/grype/cmd/grype
