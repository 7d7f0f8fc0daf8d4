# Steps of a release (sourced, bash; after check.sh): each publishes something, or finds it published with the same content.
# $release is what images are published as: the version, or of a rebuild VERSION-rN.

# Helm and cosign use HTTP only if told to; a registry on this machine has no certificate.
insecure() {
  case $REGISTRY in localhost:* | 127.0.0.1:*) echo "$1" ;; esac
}

# Bounds each call of the registry.
crane() {
  timeout --foreground 30m crane "$@"
}

# prepare_signing: with COSIGN_KEY, a file or a key service's URI, signs offline with it; without, with a certificate of the OpenID
# identity of SIGNER, issued by SIGNER_ISSUER, and an entry in the public log. SIGNERS is a pattern of who may have signed what is there.
prepare_signing() {
  if [ -n "${COSIGN_KEY:-}" ]; then
    cosign public-key --key "$COSIGN_KEY" >"$out/cosign.pub" || die 'COSIGN_KEY could not be read (see above); COSIGN_PASSWORD decrypts a file.'
    # No transparency log, no time stamps: both would need a service.
    cosign signing-config create >"$work/signing.json"
    signing=(--yes --key "$COSIGN_KEY" --signing-config "$work/signing.json")
    verifying=(--key "$out/cosign.pub" --insecure-ignore-tlog)
  else
    signing=(--yes)
    verifying=(--certificate-oidc-issuer "$SIGNER_ISSUER")
    if [ -n "${SIGNERS:-}" ]; then verifying+=(--certificate-identity-regexp "$SIGNERS"); else verifying+=(--certificate-identity "$SIGNER"); fi
  fi
  # shellcheck disable=SC2207 # none or one word
  transport=($(insecure --allow-http-registry))
}

# published REFERENCE: prints the digest of a published reference, or nothing; fails if the registry cannot be reached.
published() {
  local log=$work/published.log
  crane digest "$1" 2>"$log" && return
  grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|status code 404' "$log" || { cat "$log" >&2; die "$1 could not be read from the registry."; }
}

# sign_once REFERENCE
sign_once() {
  cosign verify "${verifying[@]}" "${transport[@]}" "$1" >/dev/null 2>&1 && return
  say "signing $1"
  cosign sign "${signing[@]}" "${transport[@]}" "$1" >"$work/cosign.log" 2>&1 || { cat "$work/cosign.log" >&2; die "$1 could not be signed."; }
}

# attest_once TYPE FILE REFERENCE
attest_once() {
  cosign verify-attestation --type "$1" "${verifying[@]}" "${transport[@]}" "$3" >/dev/null 2>&1 && return
  say "attesting $1 of $3"
  cosign attest --type "$1" --predicate "$2" "${signing[@]}" "${transport[@]}" "$3" >"$work/cosign.log" 2>&1 ||
    { cat "$work/cosign.log" >&2; die "$3 could not be attested."; }
}

# parts FILE: prints the digests of the layers in a manifest, or the platforms and digests of the manifests in an index, in one line.
parts() {
  node -e 'const { manifests, layers } = JSON.parse(fs.readFileSync(process.argv[1]))
    const platform = (each) => (each.platform ? [`${each.platform.os}/${each.platform.architecture}`] : [])
    console.log((manifests ?? layers).flatMap((each) => [...platform(each), each.digest]).join(" "))' "$1"
}

# digest_of FILE
digest_of() {
  echo "sha256:$(sha256sum <"$1" | cut -d ' ' -f 1)"
}

# checked REFERENCE PARTS: prints the digest of a manifest or index in the registry, of the bytes whose parts are these.
checked() {
  crane manifest "$1" >"$work/manifest.json"
  [ "$(parts "$work/manifest.json")" = "$2" ] || die "$1 is published with another content: a version is released once."
  digest_of "$work/manifest.json"
}

# push_once ARCHIVE REFERENCE: prints the digest of the archive's manifest, which is in the registry then.
push_once() {
  local own found
  own=$(crane digest --tarball "$1")
  found=$(published "$2")
  [ -z "$found" ] || [ "$found" = "$own" ] || die "$2 is published with another content, $found: a version is released once."
  if [ -z "$found" ]; then
    say "pushing $2"
    crane push "$1" "$2" >/dev/null 2>"$work/push.log" || { cat "$work/push.log" >&2; die "$2 could not be pushed."; }
  fi
  echo "$own"
}

# archive_of TARGET ARCH: the path of an image's archive, built unless IMAGES is a folder of archives TARGET-ARCH.tar.
archive_of() {
  if [ -n "${IMAGES:-}" ]; then
    echo "$IMAGES/$1-$2.tar"
    return
  fi
  ARCH=$2 REVISION=${packages:-$commit} scripts/build-images.sh "$1" >&2 9>&-
  echo "$(images_folder "$2")/$1.tar"
}

# Digests by TARGET-ARCH, as they were pushed, and of indexes by TARGET.
declare -A images indexes

# publish_image TARGET ARCH: pushes the image of one architecture and attests its contents and its origin.
publish_image() {
  local archive reference=$REGISTRY/shutterfleet/$1 tag=$release-$2 sbom=$out/$1-$2.cdx.json pinned
  archive=$(archive_of "$1" "$2")
  node tools/release/check-image.ts "$archive" "$1" "$2" "$commit" "$VERSION" >"$sbom" || die "the image $1 for $2 is not one of this release (see above)."
  images[$1-$2]=$(push_once "$archive" "$reference:$tag")
  pinned=$reference@${images[$1-$2]}
  sign_once "$pinned"
  attest_once cyclonedx "$sbom" "$pinned"
  attest_origin "$1" "$2" "$pinned"
}

# attest_origin TARGET ARCH REFERENCE
attest_origin() {
  node tools/release/provenance.ts "$commit" "$release" "$1" "$2" >"$work/provenance.json"
  attest_once slsaprovenance1 "$work/provenance.json" "$3"
}

# publish_index TARGET: pushes the index of its architectures' images.
publish_index() {
  local reference=$REGISTRY/shutterfleet/$1 arch manifests=() platforms=() found
  for arch in $ARCHES; do
    manifests+=("--manifest=$reference@${images[$1-$arch]}")
    platforms+=("linux/$arch" "${images[$1-$arch]}")
  done
  found=$(published "$reference:$release")
  if [ -z "$found" ]; then
    say "pushing $reference:$release"
    crane index append --docker-empty-base=false -t "$reference:$release" "${manifests[@]}" >/dev/null 2>"$work/index.log" ||
      { cat "$work/index.log" >&2; die "$reference:$release could not be pushed."; }
  fi
  indexes[$1]=$(checked "$reference:$release" "${platforms[*]}")
  echo "  $(values_key "$1"): { digest: '${indexes[$1]}' }" >>"$work/digests"
}

# sign_index TARGET
sign_index() {
  sign_once "$REGISTRY/shutterfleet/$1@${indexes[$1]}"
}

# values_key TARGET: the name of an image in the values of the chart.
values_key() {
  if [ "$1" = worker-stealth ]; then echo workerStealth; else echo "$1"; fi
}

# write_values: values of the chart that pin the images of the release by digest.
write_values() {
  {
    echo "# Pins the images of release $release: helm install … --values values-$release.yaml"
    echo "image:"
    echo "  registry: $REGISTRY"
    cat "$work/digests"
  } >"$out/values-$release.yaml"
}

# write_compose: compose.yaml with all images by digest, and the profile that it names.
write_compose() {
  [[ ${COMPOSE:-pin} != skip && " $TARGETS " == *' worker-stealth '* ]] || return 0
  node tools/release/pin-compose.ts "$REGISTRY/shutterfleet/worker-stealth@${indexes[worker-stealth]}" >"$work/compose.yaml" ||
    die 'the images of compose.yaml could not be pinned (see above): COMPOSE=skip leaves it out.'
  cp "$work/compose.yaml" k8s/seccomp/shutterfleet-worker.json "$out/"
}

# publish_chart: pushes the chart and attests its origin.
publish_chart() {
  local folder=$REGISTRY/charts archive=$out/shutterfleet-$VERSION.tgz found pinned
  .tools/helm/helm4 package charts/shutterfleet --destination "$work" >/dev/null
  # Packed again with the commit's time, so that equal files give equal bytes.
  mkdir "$work/chart"
  tar -xzf "$work/shutterfleet-$VERSION.tgz" -C "$work/chart"
  tar -C "$work/chart" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go-w -cf - shutterfleet | gzip -n -9 >"$archive"
  found=$(published "$folder/shutterfleet:$VERSION")
  if [ -z "$found" ]; then
    say "pushing $folder/shutterfleet:$VERSION"
    # shellcheck disable=SC2046 # none or one word
    timeout --foreground 30m .tools/helm/helm4 push "$archive" "oci://$folder" $(insecure --plain-http) >/dev/null 2>"$work/helm.log" ||
      { cat "$work/helm.log" >&2; die 'the chart could not be pushed.'; }
  fi
  pinned=$(checked "$folder/shutterfleet:$VERSION" "$(digest_of "$archive")")
  pinned=$folder/shutterfleet@$pinned
  sign_once "$pinned"
  attest_origin chart any "$pinned"
}

# pack_clients: the npm tarball and the wheel; npm sets fixed file times, the wheel's are SOURCE_DATE_EPOCH.
pack_clients() {
  npm pack --silent --pack-destination "$out" ./clients/typescript >/dev/null
  provide_python_tools
  build_wheel "$out"
}

# sign_files: the checksums of all files, and their signature. Files of a repeated run are the same.
sign_files() {
  (cd "$out" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%f\0' | LC_ALL=C sort -z | xargs -0 sha256sum) >"$work/sums"
  if [ -f "$out/SHA256SUMS" ] && cmp -s "$work/sums" "$out/SHA256SUMS" &&
    cosign verify-blob "${verifying[@]}" --bundle "$out/SHA256SUMS.sigstore.json" "$out/SHA256SUMS" >/dev/null 2>&1; then return; fi
  cp "$work/sums" "$out/SHA256SUMS"
  say 'signing the checksums'
  cosign sign-blob "${signing[@]}" --bundle "$out/SHA256SUMS.sigstore.json" "$out/SHA256SUMS" >/dev/null 2>"$work/cosign.log" ||
    { cat "$work/cosign.log" >&2; die 'the checksums could not be signed.'; }
}

# tag_commit: names the commit v$VERSION, here; publishing the tag is up to whoever releases.
tag_commit() {
  git rev-parse --quiet --verify "refs/tags/v$VERSION" >/dev/null || git tag --annotate "v$VERSION" --message "Release $VERSION"
}
