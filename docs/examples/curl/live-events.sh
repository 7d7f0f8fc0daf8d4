#!/bin/sh
# Live events of a capture: live-events.sh [PAGE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

# Prints the response; an error goes to standard error.
send() {
  answer=$(curl --fail-with-body --silent --show-error --max-time 30 -H "Authorization: Bearer $KEY" "$@") ||
    { printf '%s\n' "$answer" >&2 && exit 1; }
  [ -z "$answer" ] || printf '%s\n' "$answer"
}
send_events() {
  curl --fail-with-body --silent --show-error --max-time 300 --no-buffer -H "Authorization: Bearer $KEY" "$1" |
    grep '^event: \|^data: \|"error"'
}

created=$(send -H 'Content-Type: application/json' -d "{\"url\":\"${1:-https://example.com}\"}" "$BASE/v1/screenshots")
id=$(printf %s "$created" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')
send_events "$BASE/v1/screenshots/$id/events"
