#!/bin/sh
# Synchronous capture, without ads and chats: capture.sh [PAGE] [FILE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

# save FILE ARGUMENT...: stores the response; an error goes to standard error, and the file stays as it was.
save() {
  file=$1
  shift
  curl --fail-with-body --silent --show-error --max-time 150 -H "Authorization: Bearer $KEY" -o "$file.part" "$@" || {
    cat "$file.part" >&2 || true
    rm -f "$file.part"
    exit 1
  }
  mv "$file.part" "$file"
  echo "wrote $file"
}

save "${2:-page.png}" --get \
  --data-urlencode "url=${1:-https://example.com}" -d full_page=true -d block_ads=true -d block_chats=true \
  "$BASE/v1/screenshots/capture"
