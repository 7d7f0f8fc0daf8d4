#!/usr/bin/env bash
# Builds the images of the Dockerfile with buildah, without a container engine or a registry.
#
#   scripts/build-images.sh [TARGET...]       server, worker, worker-stealth, and those of test clusters by default
#
# Writes each image to .tools/images/TARGET.tar, for `ctr images import` and `docker load`, with the name
# docker.io/shutterfleet/TARGET:local. Silently skips a target whose inputs have not changed. With REVISION, a commit,
# builds again if the image is of another, from the packages of that moment.
# The base image replaces debian:bookworm-slim and is built from this machine's package sources, without anything of this machine.
# With ARCH, amd64 or arm64, builds for that architecture into .tools/images-ARCH: on another one, qemu runs the programs of the images.
# Needs root; installs the Debian packages that it needs. The first run takes some minutes and 8 GB in .tools/images.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
. scripts/fetch.sh
. scripts/images/store.sh

# The build context, and what describes it.
mapfile -t inputs < <(sed -n 's/^!//p' .dockerignore)
inputs+=(Dockerfile .dockerignore)

# input_hash TARGET: hash of all build inputs, including file modes.
input_hash() {
  {
    echo "$1 ${REVISION:-}"
    sha256sum <"$base"
    find "${inputs[@]}" -type f -printf '%m %p\0' | sort -z
    find "${inputs[@]}" -type f -print0 | sort -z | xargs -0 sha256sum
  } | sha256sum | cut -c 1-16
}

build() {
  local target=$1 hash
  hash=$(input_hash "$target")
  if [ "$(cat "$images/$target.hash" 2>/dev/null)" = "$hash" ] && [ -f "$images/$target.tar" ]; then return; fi
  say "building the image $target"
  build_image "$target" "$(image_name "$target")"
  rm -f "$images/$target.tar"
  in_store push --quiet "$(image_name "$target")" "docker-archive:$work/image.tar:$(image_name "$target")"
  mv "$work/image.tar" "$images/$target.tar"
  # Remove what nodes have imported from older archives.
  rm -rf "$images"/imported-*
  echo "$hash" >"$images/$target.hash"
}

clusters=''
if [ $# -eq 0 ]; then
  set -- server worker worker-stealth
  [ "$images" != .tools/images ] || clusters=true
fi
[ "$(id -u)" = 0 ] || die 'images are built as root.'
start_work images.lock
require_packages 'images' buildah mmdebstrap
require_emulation
provide_base
if [ -n "$clusters" ]; then
  provide_pause
  provide_servers
fi
for target in "$@"; do build "$target"; done
