#!/bin/sh
# Builds MinIO, or with TEST_S3=versitygw the server of compose.yaml, if there is none, and runs the object store tests on it instead
# of the tests' S3 server: the given files, or all that start a store. The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
export TEST_S3="${TEST_S3:-minio}"
case $TEST_S3 in
  minio | versitygw) "scripts/build-$TEST_S3.sh" ;;
  *) echo "TEST_S3 must be minio or versitygw, not $TEST_S3" >&2; exit 2 ;;
esac
if [ $# -eq 0 ]; then
  for name in s3-store s3-identities s3-captures back-up private-authority uploads; do set -- "$@" "test/integration/$name.test.ts"; done
fi
exec scripts/run-tests.sh --jobs=1 --timeout=900 "$@"
