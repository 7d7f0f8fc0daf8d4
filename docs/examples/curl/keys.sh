#!/bin/sh
# A key for pages of one host, which is then revoked: keys.sh [HOST]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

# Prints the response; an error goes to standard error.
send() {
  answer=$(curl --fail-with-body --silent --show-error --max-time 30 -H "Authorization: Bearer $KEY" "$@") ||
    { printf '%s\n' "$answer" >&2 && exit 1; }
  [ -z "$answer" ] || printf '%s\n' "$answer"
}

body=$(printf '{"name":"Website","domains":["%s"]}' "${1:-example.com}")
made=$(send -H 'Content-Type: application/json' -d "$body" "$BASE/v1/keys")
printf '%s\n' "$made" | sed 's/.*"key":"\([^"]*\)".*/\1/'
id=$(printf %s "$made" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')
all=$(send "$BASE/v1/keys")
echo "all keys: $all"
send -X DELETE "$BASE/v1/keys/$id"
echo "revoked $id"
