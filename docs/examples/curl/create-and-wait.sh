#!/bin/sh
# Asynchronous capture: create, wait for the end, download. create-and-wait.sh [PAGE] [FILE]
set -eu
: "${BASE:?where the service is, such as http://127.0.0.1:8080}" "${KEY:?an API key}"

# Prints the response; an error goes to standard error.
send() {
  answer=$(curl --fail-with-body --silent --show-error --max-time 90 -H "Authorization: Bearer $KEY" "$@") ||
    { printf '%s\n' "$answer" >&2 && exit 1; }
  [ -z "$answer" ] || printf '%s\n' "$answer"
}
# save FILE ARGUMENT...: stores the response; an error goes to standard error, and the file stays as it was.
save() {
  file=$1
  shift
  curl --fail-with-body --silent --show-error --max-time 90 -H "Authorization: Bearer $KEY" -o "$file.part" "$@" || {
    cat "$file.part" >&2 || true
    rm -f "$file.part"
    exit 1
  }
  mv "$file.part" "$file"
  echo "wrote $file"
}

# The key makes it safe to retry the request: nothing is captured or charged twice.
created=$(send -H 'Content-Type: application/json' -H "Idempotency-Key: example-$(date +%s)-$$" \
  -d "{\"url\":\"${1:-https://example.com}\",\"format\":\"webp\"}" "$BASE/v1/screenshots")
id=$(printf %s "$created" | sed 's/^{"data":{"id":"\([^"]*\)".*/\1/')

# Each request returns at the end of the capture, or after 30 seconds.
for _ in 1 2 3 4 5 6; do
  record=$(send "$BASE/v1/screenshots/$id?wait=30")
  case $record in
    *'"status":"completed"'*)
      save "${2:-page.webp}" "$BASE/v1/screenshots/$id/image"
      exit 0
      ;;
    *'"status":"failed"'*)
      echo "$record" >&2
      exit 1
      ;;
  esac
done
echo "$id has not ended yet" >&2
exit 1
