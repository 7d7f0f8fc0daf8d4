#!/bin/sh
# A signed link to an image, valid for ten minutes: signed-link.sh [PAGE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

# Prints the response; an error goes to standard error.
send() {
  answer=$(curl --fail-with-body --silent --show-error --max-time 150 -H "Authorization: Bearer $KEY" "$@") ||
    { printf '%s\n' "$answer" >&2 && exit 1; }
  [ -z "$answer" ] || printf '%s\n' "$answer"
}

record=$(send --get --data-urlencode "url=${1:-https://example.com}" -d response_type=json "$BASE/v1/screenshots/capture")
id=$(printf %s "$record" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')
link=$(send -H 'Content-Type: application/json' -d '{"expires_in":10}' "$BASE/v1/screenshots/$id/signed-url")
printf '%s\n' "$link" | sed 's/.*"url":"\([^"]*\)".*/\1/'
