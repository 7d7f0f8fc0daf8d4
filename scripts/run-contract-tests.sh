#!/bin/sh
# Lints the OpenAPI documents, captures with clients that were generated from the public one, then runs schemathesis against a
# running gateway with test/contract/run.ts, and passes the arguments on to it. Installs the tools the first time. Non-interactive;
# schemathesis ends within 15 minutes.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/install-contract-tools.sh
linters=.tools/openapi-linters/node_modules/.bin
REDOCLY_TELEMETRY=off "$linters/redocly" lint --config tools/openapi/redocly.yaml docs/openapi.json docs/admin-openapi.json
"$linters/spectral" lint --fail-severity hint --ruleset tools/openapi/spectral.yaml docs/openapi.json docs/admin-openapi.json

scripts/run-tests.sh --timeout=900 test/contract/generated-clients.test.ts

exec timeout --kill-after=10s 15m node test/contract/run.ts .tools/schemathesis/bin/schemathesis --no-color --warnings=off "$@"
