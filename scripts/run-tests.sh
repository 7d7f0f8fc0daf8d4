#!/bin/sh
# Runs tap with the given arguments (without files: all tests that need no cluster), then lists the files that failed and
# prints `N passed, N failed` (assertions) as the last line. Exits with tap's code, or 1 if no assertion ran. Unit tests and
# tidy rules, also folders of them, share processes. If CI is set, up to five failed files are rerun alone; those
# that pass then are reported as flaky, with the output of the first run.
set -eu
reporter=base
if [ -n "${CI:-}" ]; then
  # Else tap draws a screen anew for each assertion, also for nobody: 31 s of a processor for the unit tests of the gateway, not 4.
  reporter=silent
fi
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
work=$(mktemp -d .tools/tests-XXXXXX)
memory=''
trap 'rm -rf "$work" ${memory:+"$memory"}' EXIT
# Each start of a PostgreSQL creates a thousand files, which takes 3 s of a processor on ext4 where as many were just deleted, and
# nothing in memory. Tests need up to 2 GB there.
free_kib() { df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }'; }
if [ -z "${TMPDIR:-}" ] && [ "$(free_kib)" -ge 6000000 ] 2>/dev/null && memory=$(mktemp -d /dev/shm/tests-XXXXXX); then
  # Unprivileged servers of the tests use it too.
  chmod 1777 "$memory"
  export TMPDIR="$memory"
fi
trap 'show; exit 1' HUP INT TERM
results=$work/results.tap
printed=$work/printed
# Show the output of failed files only: that of hundreds of passed ones would hide it.
show() { [ ! -s "$printed" ] || grep -av '^ PASS ' "$printed" || true; }
# Strip types and compile modules once, not in each process.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/.tools/compile-cache}"
node test/batches/write.ts "$work" "$@" >"$work/arguments"
set --
while IFS= read -r word; do set -- "$@" "$word"; done <"$work/arguments"
code=0
if [ -t 1 ]; then
  tap --reporter=base --output-file="$results" "$@" || code=$?
else
  CI=true tap --reporter="$reporter" --output-file="$results" "$@" >"$printed" 2>&1 || code=$?
fi

# The last totals are those of the whole run: # { total: 20, pass: 15, fail: 5 }
totals=$(grep -a '^# { total: ' "$results" | tail -n 1) || true
count() {
  number=$(printf '%s' "$totals" | sed -nE "s/.*[{,] $1: ([0-9]+).*/\1/p")
  echo "${number:-0}"
}
failed=$(count fail)
# Missing or empty test files count as a failure.
if [ "$code" -eq 0 ] && [ "$(count pass)" -eq 0 ]; then
  echo 'no test ran' >&2
  code=1
fi
# A run that crashed without a failed assertion counts as failed.
if [ "$code" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
if [ "$code" -ne 0 ]; then
  show
  if [ "$reporter" = silent ]; then
    awk '/^ *not ok /{ inside = 1 } inside; /^ *\.\.\.$/{ inside = 0 }' "$results" | head -n 400
  elif [ ! -t 1 ]; then
    # Without a terminal, tap prints no differences; at most 200 lines.
    awk '/^ *not ok /{ title = $0 } /^ *at:$/{ inside = 0 } inside
      /^ *diff: [|>]/{ print title; inside = 1 }' "$results" | head -n 200
  fi
fi
# In a batch each file is a subtest. A file that does not end in time is named only as what expired.
files=''
[ "$code" -eq 0 ] || files=$(sed -nE 's/^ *not ok [0-9]+ - (test\/[^ ]*\.ts)( .*)?$/\1/p; s/^  expired: (test\/.*\.ts)$/\1/p' "$results" | sort -u)
verdict=failed
if [ -n "${CI:-}" ] && [ -n "$files" ] && [ "$(echo "$files" | wc -l)" -le 5 ]; then
  options=$(printf '%s\n' "$@" | sed -n '/^--/p')
  # Unset CI, so that there is no third run.
  if CI='' "$0" $options --jobs=1 $files; then verdict=flaky code=0 failed=0; fi
fi
for file in $files; do echo "$verdict: $file"; done
echo "$(count pass) passed, $failed failed"
exit "$code"
