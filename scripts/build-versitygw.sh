#!/bin/sh
# Builds the S3 gateway of compose.yaml, of the version of tools/versitygw, as .tools/versitygw/versitygw, for tests. Exits 1 where the
# build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build_program versitygw 'the S3 server versitygw' github.com/versity/versitygw/cmd/versitygw
