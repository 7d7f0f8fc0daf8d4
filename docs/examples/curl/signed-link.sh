#!/bin/sh
# A signed link to an image, valid for ten minutes: signed-link.sh [PAGE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"
send() { curl --fail-with-body --silent --show-error --max-time 150 -H "Authorization: Bearer $KEY" "$@"; }

record=$(send --get --data-urlencode "url=${1:-https://example.com}" -d response_type=json "$BASE/v1/screenshots/capture")
id=$(printf %s "$record" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')
send -H 'Content-Type: application/json' -d '{"expires_in":10}' "$BASE/v1/screenshots/$id/signed-url" |
  sed 's/.*"url":"\([^"]*\)".*/\1/'
