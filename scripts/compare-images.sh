#!/usr/bin/env bash
# Checks that image builds are reproducible: builds an image again without cache and lists the files that differ. Takes a
# TARGET of the Dockerfile, `server` by default. Lines: `-` only in the first build, `+` only in the second, both if type, mode,
# owner, size or content differ. Exits 1 if an unexpected file differs.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
target=${1:-server}
# Code caches of V8 differ from run to run, and are checked against their sources when they are loaded.
expected='^[-+] [^ ]* [^ ]* [^ ]* [^ ]* [^ ]* \./app/\.tools/compile-cache/'

scripts/build-images.sh "$target"
. scripts/fetch.sh
. scripts/images/store.sh
start_work images.lock

# list IMAGE FILE: type, mode, owner, size, sum, path.
list() {
  local container folder
  container=$(in_store from --pull-never "$1")
  folder=$(in_store mount "$container")
  (
    cd "$folder"
    find . -xdev -type f -printf '%y %m %U:%G %s ' -exec sha256sum {} \;
    find . -xdev ! -type f -printf '%y %m %U:%G 0 %l  %p\n'
  ) | sed 's/  */ /g' | LC_ALL=C sort -k 6 >"$2"
  in_store rm "$container" >/dev/null
}

second=$(image_name "$target" second)
say "building the image $target again"
build_image "$target" "$second" --no-cache
list "$(image_name "$target")" "$work/first"
list "$second" "$work/second"
in_store rmi "$second" >/dev/null

diff "$work/first" "$work/second" | sed -n 's/^</-/p; s/^>/+/p' >"$work/differences" || true
cat "$work/differences"
unexpected=$(grep -cv "$expected" "$work/differences" || true)
echo "$target: $(wc -l <"$work/first") files, $(wc -l <"$work/differences") differences, $unexpected unexpected"
[ "$unexpected" -eq 0 ]
