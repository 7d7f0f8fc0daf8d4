#!/usr/bin/env bash
# Publishes the images of release VERSION again, as VERSION-r1 and so on, where the distribution has a newer Chromium than those that
# are published; `rebuild.sh look` only prints whether it has. Settings as for scripts/release.sh (docs/releases.md). Run again, it
# completes what was interrupted, or finds nothing newer.
set -euo pipefail
shopt -s inherit_errexit
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

# last_complete: prints the newest tag whose last image has a signed index; a rebuild signs it last.
last_complete() {
  local reference=$REGISTRY/shutterfleet/${TARGETS##* } tag
  crane ls "$reference" | grep -xE "${VERSION//./\\.}(-r[0-9]+)?" | sort -rV >"$work/tags" || die "release $VERSION is not in $REGISTRY."
  while read -r tag; do
    if cosign verify "${verifying[@]}" "${transport[@]}" "$reference:$tag" >/dev/null 2>"$work/cosign.log"; then
      echo "$tag"
      return
    fi
    grep -qE 'no (matching )?(signatures|attestations)' "$work/cosign.log" ||
      { cat "$work/cosign.log" >&2; die "the signatures of $reference:$tag could not be read."; }
  done <"$work/tags"
  die "release $VERSION in $REGISTRY is not complete, or not signed by COSIGN_KEY, SIGNER or SIGNERS."
}

# read_published TAG: writes `name version` of the watched packages in each image of a tag to $work/published-TARGET, of the
# architecture with the oldest one, and of all images to $work/published.
read_published() {
  local target arch
  for target in $TARGETS; do
    for arch in $ARCHES; do attested_packages "$REGISTRY/shutterfleet/$target:$1-$arch"; done |
      sort -V | awk '!seen[$1]++' >"$work/published-$target"
  done
  sort -u "$work"/published-* >"$work/published"
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

# check_built: each new image has the packages of the published one, all newer.
check_built() {
  local target arch name version archive built
  for target in $TARGETS; do
    for arch in $ARCHES; do
      archive=$(archive_of "$target" "$arch")
      node tools/release/check-image.ts "$archive" "$target" "$arch" "$commit" "$VERSION" >"$work/sbom" ||
        die "the image $target for $arch is not one of this release (see above)."
      node tools/release/package-versions.ts "${watched[@]}" <"$work/sbom" >"$work/built"
      while read -r name version; do
        built=$(sed -n "s/^$name //p" "$work/built")
        [ -n "$built" ] || die "the image $target for $arch has no $name."
        dpkg --compare-versions "$built" gt "$version" ||
          die "the image $target for $arch has $name $built, which is not newer than $version: build it again."
      done <"$work/published-$target"
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
latest=$(last_complete)
read_published "$latest"
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
cp -r "$out" ".tools/release/$release"
# Last, the signatures that make the images complete: before them, another run goes on with the same images.
for target in $TARGETS; do sign_index "$target"; done
say "images $release are complete: $REGISTRY, files in .tools/release/$release"
