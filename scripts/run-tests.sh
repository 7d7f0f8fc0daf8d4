#!/bin/sh
# Runs tap with the given arguments (without files: everything that passes without a cluster), then names the files that
# failed and prints `N passed, N failed` (assertions) as the last line. Exits as tap does, and with 1 where no assertion was
# made. Unit tests and tidy rules share processes (ADR 47), given folders of them too. Where CI is set, up to three files that
# failed run once more, alone; what then passes is named flaky, and its first output shown all the same.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
work=$(mktemp -d .tools/tests-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'show; exit 1' HUP INT TERM
results=$work/results.tap
printed=$work/printed
# What the tests printed is of interest where one fails; hundreds of files that passed would hide it.
show() { [ ! -s "$printed" ] || grep -av '^ PASS ' "$printed" || true; }
# Modules are stripped of their types and compiled once, not by each process.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/.tools/compile-cache}"
node test/batches/write.ts "$work" "$@" >"$work/arguments"
set --
while IFS= read -r word; do set -- "$@" "$word"; done <"$work/arguments"
code=0
if [ -t 1 ]; then
  tap --reporter=base --output-file="$results" "$@" || code=$?
else
  CI=true tap --reporter=base --output-file="$results" "$@" >"$printed" 2>&1 || code=$?
fi

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
[ "$code" -eq 0 ] || show
# A file of a batch is a test within it.
files=''
[ "$code" -eq 0 ] || files=$(sed -nE 's/^ *not ok [0-9]+ - (test\/[^ ]*\.ts)( .*)?$/\1/p' "$results" | sort -u)
verdict=failed
if [ -n "${CI:-}" ] && [ -n "$files" ] && [ "$(echo "$files" | wc -l)" -le 3 ]; then
  options=$(printf '%s\n' "$@" | sed -n '/^--/p')
  # Without CI, so that there is no third run.
  if CI='' "$0" $options --jobs=1 $files; then verdict=flaky code=0 failed=0; fi
fi
for file in $files; do echo "$verdict: $file"; done
echo "$(count pass) passed, $failed failed"
exit "$code"
