#!/bin/sh
# Builds the object store MinIO of the version of tools/minio as .tools/minio/minio, for tests. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build_program minio MinIO github.com/minio/minio
