#!/bin/sh
# All captures of a status, newest first, page by page: list.sh [STATUS]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

# Prints the response; an error goes to standard error.
send() {
  answer=$(curl --fail-with-body --silent --show-error --max-time 30 -H "Authorization: Bearer $KEY" "$@") ||
    { printf '%s\n' "$answer" >&2 && exit 1; }
  [ -z "$answer" ] || printf '%s\n' "$answer"
}

cursor=
while :; do
  page=$(send --get -d per_page=100 -d "status=${1:-completed}" ${cursor:+--data-urlencode "cursor=$cursor"} "$BASE/v1/screenshots")
  printf '%s\n' "$page"
  cursor=$(printf %s "$page" | sed -n 's/.*"next_cursor":"\([^"]*\)".*/\1/p')
  [ -n "$cursor" ] || break
done
