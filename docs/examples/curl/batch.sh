#!/bin/sh
# Many pages with one request, and the events until all have ended: batch.sh PAGE...
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

[ $# -gt 0 ] || set -- https://example.com https://example.org
urls=$(printf '"%s",' "$@")
batch=$(send -H 'Content-Type: application/json' -d "{\"urls\":[${urls%,}],\"format\":\"jpeg\"}" "$BASE/v1/screenshots/batch")
id=$(printf %s "$batch" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')

send_events "$BASE/v1/screenshots/batch/$id/events"
