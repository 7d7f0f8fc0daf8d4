#!/bin/sh
# Deletes a capture, its image and all other stored data: delete.sh ID
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

# Prints the response; an error goes to standard error.
send() {
  answer=$(curl --fail-with-body --silent --show-error --max-time 30 -H "Authorization: Bearer $KEY" "$@") ||
    { printf '%s\n' "$answer" >&2 && exit 1; }
  [ -z "$answer" ] || printf '%s\n' "$answer"
}

send -X DELETE "$BASE/v1/screenshots/${1:?the id of a capture}"
echo "deleted $1"
