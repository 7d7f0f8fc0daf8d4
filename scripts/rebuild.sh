#!/usr/bin/env bash
# Publishes the images of release VERSION again, as VERSION-r1 and so on, where the distribution has a newer Chromium than those that
# are published; `rebuild.sh look` only prints whether it has. Settings as for scripts/release.sh (docs/releases.md). Run again, it
# completes what was interrupted, or finds nothing newer.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
. scripts/fetch.sh
. scripts/release/check.sh
. scripts/release/publish.sh
# Debian packages that make a rebuild worth it, if there is a newer one.
watched=(chromium-headless-shell chromium)

# attested_packages REFERENCE: prints the watched packages of an image with their versions, from its signed contents.
attested_packages() {
  cosign verify-attestation --type cyclonedx "${verifying[@]}" "${transport[@]}" "$1" 2>"$work/cosign.log" >"$work/attestation" ||
    { cat "$work/cosign.log" >&2; die "the contents of $1 could not be verified."; }
  head -n 1 "$work/attestation" | node tools/release/package-versions.ts "${watched[@]}"
}

# published_packages TAG: prints `name version` of the watched packages in the images of a tag.
published_packages() {
  local target
  for target in $TARGETS; do attested_packages "$REGISTRY/shutterfleet/$target:$1-${ARCHES%% *}"; done | sort -u
}

# newest_package NAME: prints the version that apt would install.
newest_package() {
  LC_ALL=C apt-cache policy "$1" | sed -n 's/^  Candidate: //p'
}

# find_newer: prints a line for each package of $work/published of which the distribution has a newer version.
find_newer() {
  local name version newest
  while read -r name version; do
    newest=$(newest_package "$name")
    [ -n "$newest" ] && [ "$newest" != '(none)' ] || die "the package sources of this machine have no $name."
    if dpkg --compare-versions "$newest" gt "$version"; then echo "$name $newest, after $version"; fi
  done <"$work/published"
}

# check_built: each new image has newer packages than the published ones.
check_built() {
  local target arch name version archive
  for target in $TARGETS; do
    for arch in $ARCHES; do
      archive=$(archive_of "$target" "$arch")
      node tools/release/check-image.ts "$archive" "$target" "$arch" "$commit" "$VERSION" >"$work/sbom" ||
        die "the image $target for $arch is not one of this release (see above)."
      node tools/release/package-versions.ts "${watched[@]}" <"$work/sbom" >"$work/built"
      while read -r name version; do
        dpkg --compare-versions "$version" gt "$(sed -n "s/^$name //p" "$work/published" | head -n 1)" ||
          die "the image $target for $arch has $name $version, which is not newer: build it again."
      done <"$work/built"
    done
  done
}

# next_revision LATEST: prints the first free revision after the latest, or that which these images began.
next_revision() {
  local number=0 own found target=${TARGETS%% *} arch=${ARCHES%% *}
  [ "$1" = "$VERSION" ] || number=${1##*-r}
  own=$(crane digest --tarball "$(archive_of "$target" "$arch")")
  for number in $(seq $((number + 1)) $((number + 100))); do
    found=$(published "$REGISTRY/shutterfleet/$target:$VERSION-r$number-$arch")
    if [ -z "$found" ] || [ "$found" = "$own" ]; then
      echo "$VERSION-r$number"
      return
    fi
  done
  die "a hundred revisions after $1 are taken by others."
}

check_settings
check_released
scripts/build-release-tools.sh
start_work release.lock
export PATH="$PWD/.tools/release-tools:$PATH"
out=$work/files
mkdir "$out"
prepare_signing
# The index of the last image is published last.
latest=$(crane ls "$REGISTRY/shutterfleet/${TARGETS##* }" | grep -xE "${VERSION//./\\.}(-r[0-9]+)?" | sort -V | tail -n 1) ||
  die "release $VERSION is not in $REGISTRY."
published_packages "$latest" >"$work/published"
[ -s "$work/published" ] || die "the images of $latest contain none of: ${watched[*]}."
apt_quietly update >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; die 'the package sources could not be read (see above).'; }
find_newer >"$work/newer"
if [ ! -s "$work/newer" ]; then
  echo "nothing newer than in $latest: $(paste -sd , "$work/published")"
  exit
fi
echo "newer than in $latest: $(paste -sd ';' "$work/newer")"
[ "${1:-}" != look ] || exit 0

# Another text installs packages again (scripts/build-images.sh); the same one after an interruption does not.
packages="$commit $(paste -sd ' ' "$work/newer")"
check_built
release=$(next_revision "$latest")
for target in $TARGETS; do
  for arch in $ARCHES; do publish_image "$target" "$arch"; done
  publish_index "$target"
done
write_values
write_compose
sign_files
rm -rf ".tools/release/$release"
mkdir -p .tools/release
mv "$out" ".tools/release/$release"
say "images $release are complete: $REGISTRY, files in .tools/release/$release"
