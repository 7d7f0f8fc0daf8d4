#!/bin/sh
# Builds MinIO if there is none, and runs the tests of the object store on it in place of the tests' own server: the given files,
# or all that start a store. The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/build-minio.sh
if [ $# -eq 0 ]; then
  for name in s3-store s3-captures back-up private-authority; do set -- "$@" "test/integration/$name.test.ts"; done
fi
export TEST_S3=minio
exec scripts/run-tests.sh --jobs=1 --timeout=900 "$@"
