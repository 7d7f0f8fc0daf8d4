#!/usr/bin/env bash
# Lints the OpenAPI documents, captures with clients that were generated from the public one, then runs schemathesis against a
# running gateway with test/contract/run.ts, and passes the arguments on to it. Installs exact versions of the tools into .tools the
# first time. Non-interactive; schemathesis ends within 15 minutes.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

version=4.32.5
folder=.tools/schemathesis-$version

# The mark file means that the installation is complete.
if [ ! -e "$folder/installed" ]; then
  echo "installing schemathesis $version into .tools"
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "schemathesis==$version"
  touch "$folder/installed"
fi

linters=.tools/openapi-$(sha256sum tools/openapi/package-lock.json | cut -c 1-16)
if [ ! -e "$linters/installed" ]; then
  echo 'installing the linters of OpenAPI documents into .tools'
  rm -rf "$linters"
  mkdir "$linters"
  cp .npmrc tools/openapi/package.json tools/openapi/package-lock.json "$linters/"
  npm ci --prefix "$linters" --silent
  touch "$linters/installed"
fi
REDOCLY_TELEMETRY=off "$linters/node_modules/.bin/redocly" lint --config tools/openapi/redocly.yaml docs/openapi.json docs/admin-openapi.json
"$linters/node_modules/.bin/spectral" lint --fail-severity hint --ruleset tools/openapi/spectral.yaml docs/openapi.json docs/admin-openapi.json

scripts/run-tests.sh --timeout=900 test/contract/generated-clients.test.ts

exec timeout --kill-after=10s 15m node test/contract/run.ts "$folder/bin/schemathesis" --no-color --warnings=off "$@"
