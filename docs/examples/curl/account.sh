#!/bin/sh
# The plan of the account, and the remaining quota: account.sh
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

for path in account account/usage; do
  curl --fail-with-body --silent --show-error --max-time 30 -H "Authorization: Bearer $KEY" "$BASE/v1/$path"
  echo
done
