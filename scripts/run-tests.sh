#!/bin/sh
# Runs tap with the given arguments, then names the files that failed and prints `N passed, N failed` (assertions) as the
# last line. Exits as tap does, and with 1 where no assertion was made.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
results=$(mktemp)
trap 'rm -f "$results"' EXIT
trap 'exit 1' HUP INT TERM

# Where nobody watches, the reporter prints its picture once instead of redrawing it.
[ -t 1 ] || export CI=true
code=0
tap --reporter=base --output-file="$results" "$@" || code=$?

# The last totals are those of the whole run: # { total: 20, pass: 15, fail: 5 }
totals=$(grep -a '^# { total: ' "$results" | tail -n 1) || true
count() {
  number=$(printf '%s' "$totals" | sed -nE "s/.*[{,] $1: ([0-9]+).*/\1/p")
  echo "${number:-0}"
}
failed=$(count fail)
# Files that were not found, or hold nothing, are no success.
if [ "$code" -eq 0 ] && [ "$(count pass)" -eq 0 ]; then
  echo 'no test ran' >&2
  code=1
fi
# A run that broke down without a failed assertion has failed all the same.
if [ "$code" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
printf '\n'
sed -n 's/^not ok [0-9]* - /failed: /p' "$results"
echo "$(count pass) passed, $failed failed"
exit "$code"
