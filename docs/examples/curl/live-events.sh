#!/bin/sh
# What happens to a capture, while it happens: live-events.sh [PAGE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"
ask() { curl --fail-with-body --silent --show-error --max-time 300 -H "Authorization: Bearer $KEY" "$@"; }

created=$(ask -H 'Content-Type: application/json' -d "{\"url\":\"${1:-https://example.com}\"}" "$BASE/v1/screenshots")
id=$(printf %s "$created" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')
ask --no-buffer "$BASE/v1/screenshots/$id/events" | grep '^event: \|^data: '
