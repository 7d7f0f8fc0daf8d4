#!/bin/sh
# Builds MinIO if there is none, and runs the object store tests on it instead of the tests' S3 server: the given files, or all
# that start a store. The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/build-minio.sh
if [ $# -eq 0 ]; then
  for name in s3-store s3-identities s3-captures back-up private-authority uploads; do set -- "$@" "test/integration/$name.test.ts"; done
fi
export TEST_S3=minio
exec scripts/run-tests.sh --jobs=1 --timeout=900 "$@"
