#!/bin/sh
# Synchronous capture, without ads and chats: capture.sh [PAGE] [FILE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

curl --fail-with-body --silent --show-error --max-time 150 --get \
  -H "Authorization: Bearer $KEY" \
  --data-urlencode "url=${1:-https://example.com}" -d full_page=true -d block_ads=true -d block_chats=true \
  -o "${2:-page.png}" "$BASE/v1/screenshots/capture"
echo "wrote ${2:-page.png}"
