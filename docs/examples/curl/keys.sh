#!/bin/sh
# A key for pages of one host, which is then revoked: keys.sh [HOST]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"
send() { curl --fail-with-body --silent --show-error --max-time 30 -H "Authorization: Bearer $KEY" "$@"; }

body=$(printf '{"name":"Website","domains":["%s"]}' "${1:-example.com}")
made=$(send -H 'Content-Type: application/json' -d "$body" "$BASE/v1/keys")
printf %s "$made" | sed 's/.*"key":"\([^"]*\)".*/\1/'
echo
id=$(printf %s "$made" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')
send "$BASE/v1/keys" | sed 's/.*/all keys: &/'
echo
send -X DELETE "$BASE/v1/keys/$id"
echo "revoked $id"
