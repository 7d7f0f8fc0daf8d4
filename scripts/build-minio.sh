#!/bin/sh
# Builds the object store MinIO of the version of tools/minio as .tools/minio/minio, for tests. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  gently go -C tools/minio build -ldflags '-s -w' -o "$1/minio" github.com/minio/minio
}

use_go
build_once minio MinIO build tools/minio/go.mod tools/minio/go.sum
