#!/bin/sh
# Live events of a capture: live-events.sh [PAGE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"
send() { curl --fail-with-body --silent --show-error --max-time 300 -H "Authorization: Bearer $KEY" "$@"; }

created=$(send -H 'Content-Type: application/json' -d "{\"url\":\"${1:-https://example.com}\"}" "$BASE/v1/screenshots")
id=$(printf %s "$created" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')
send --no-buffer "$BASE/v1/screenshots/$id/events" | grep '^event: \|^data: '
