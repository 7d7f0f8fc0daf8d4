#!/bin/sh
# Deletes a capture, its image and all other stored data: delete.sh ID
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

curl --fail-with-body --silent --show-error --max-time 30 -X DELETE \
  -H "Authorization: Bearer $KEY" "$BASE/v1/screenshots/${1:?the id of a capture}"
echo "deleted $1"
