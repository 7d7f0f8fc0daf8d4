#!/usr/bin/env bash
# Makes the release VERSION of this commit and publishes it to REGISTRY, an OCI registry with a path: images, chart, signatures,
# attestations; and files into .tools/release/VERSION. docs/releases.md describes prerequisites and settings. Run again after a
# failure, it goes on: what is published is compared, not replaced. Exits 1 if anything differs from this commit, or is not ready.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
. scripts/fetch.sh
. scripts/release/check.sh
. scripts/release/publish.sh
. scripts/python-client-tools.sh

check_settings
check_commit
check_origins
scripts/build-release-tools.sh
scripts/build-helm.sh
start_work release.lock
export PATH="$PWD/.tools/release-tools:$PATH"
release=$VERSION
out=$PWD/.tools/release/$release
mkdir -p "$out"
# What an earlier run left is made again; signatures stay while the checksums are the same.
find "$out" -maxdepth 1 -type f ! -name 'SHA256SUMS*' -delete
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
cp docs/openapi.json docs/admin-openapi.json crds/browserpools.shutterfleet.dev.yaml "$out/"
changelog_section >"$out/release-notes.md"
node tools/images/write-third-party.ts "$out/THIRD-PARTY.txt" "$(dirname "$(dirname "$(command -v node)")")/LICENSE"
prepare_signing

for target in $TARGETS; do
  for arch in $ARCHES; do publish_image "$target" "$arch"; done
  publish_index "$target"
  sign_index "$target"
done
write_values
write_compose
publish_chart
pack_clients
sign_files
tag_commit
say "release $VERSION is complete: $REGISTRY, files in $out"
