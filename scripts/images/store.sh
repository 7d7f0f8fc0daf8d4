# Shared by build-images.sh and compare-images.sh (sourced, bash; after fetch.sh): buildah with a separate store.

# That of this machine, or ARCH.
arch=${ARCH:-$(dpkg --print-architecture)}
images=$(images_folder "$arch")
# Same on every machine, of public packages alone; what the images contain.
base=$images/base.tar
base_name=docker.io/library/debian:bookworm-slim
# With this machine's certificates, for the stages that download from npm and PyPI.
builder_name=docker.io/shutterfleet/builder:local
# Under emulation everything takes about ten times as long.
build_limit=120m

in_store() {
  buildah --root "$PWD/$images/store" --runroot "$PWD/$images/store-run" "$@"
}

# image_name TARGET [TAG]
image_name() {
  echo "docker.io/shutterfleet/$1:${2:-local}"
}

# build_image TARGET NAME [OPTION...]: sets file times in layers to 0, so that equal files give equal layers.
build_image() {
  local target=$1 name=$2 revision
  shift 2
  revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
  [ -z "$(git status --porcelain 2>/dev/null)" ] || revision=$revision-dirty
  timeout --kill-after=30s "$build_limit" buildah --root "$PWD/$images/store" --runroot "$PWD/$images/store-run" \
    bud --arch "$arch" --pull-never --isolation chroot --layers --format docker --timestamp 0 --target "$target" \
    --build-arg "BUILDER=$builder_name" \
    --build-arg "PACKAGES=${REVISION:-}" --build-arg "REVISION=$revision" --tag "$name" "$@" . >"$work/build.log" 2>&1 || {
    tail -n 40 "$work/build.log" >&2
    # Mounts of an interrupted build.
    in_store rm --all >/dev/null 2>&1 || true
    die "the image $target could not be built (see above)."
  }
}

# The apt sources of this machine if it is the same Debian release, else the public ones.
debian_sources() {
  grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release || return 0
  for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    if [ -s "$file" ]; then
      echo "$file"
      return
    fi
  done
}

# require_emulation: has qemu run the programs of another architecture than this machine's, in images too, until it restarts.
require_emulation() {
  [ "$arch" != "$(dpkg --print-architecture)" ] || return 0
  local machine handlers=/proc/sys/fs/binfmt_misc
  case $arch in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) die "ARCH is $arch, which is neither amd64 nor arm64." ;;
  esac
  require_packages "images for $arch" arch-test qemu-user-static
  [ -e "$handlers/register" ] || mount -t binfmt_misc none "$handlers" ||
    die "images for $arch need a kernel with binfmt_misc, or a machine of that architecture."
  [ -e "$handlers/qemu-$machine" ] || cat "/usr/lib/binfmt.d/qemu-$machine.conf" >"$handlers/register"
}

# provide_base: builds the replacement of debian:bookworm-slim, once and for each REVISION, with the published image's excludes, and
# loads it into the store, also with this machine's certificates as the builder.
provide_base() {
  mkdir -p "$images"
  if [ -n "${REVISION:-}" ] && [ "$(cat "$images/base.revision" 2>/dev/null)" != "$REVISION" ]; then
    rm -f "$base"
    echo "$REVISION" >"$images/base.revision"
  fi
  if [ ! -f "$base" ]; then
    say 'making a minimal Debian for images'
    # shellcheck disable=SC2046 # none or one word
    SOURCE_DATE_EPOCH=0 mmdebstrap --architectures="$arch" --quiet --variant=minbase --mode=root --components=main \
      --include=usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
      --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
      --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
      --dpkgopt='path-exclude=/usr/share/info/*' --aptopt='Acquire::Languages "none"' \
      bookworm "$work/debian.tar" $(debian_sources) >"$work/base.log" 2>&1 || {
      tail -n 20 "$work/base.log" >&2
      die 'no Debian could be made (see above).'
    }
    mv "$work/debian.tar" "$base"
    in_store rmi --force "$base_name" "$builder_name" >/dev/null 2>&1 || true
  fi
  if in_store inspect --type image "$builder_name" >/dev/null 2>&1; then return; fi
  local container certificate
  container=$(in_store from scratch)
  in_store add --quiet "$container" "$base" / >/dev/null
  in_store config --arch "$arch" --cmd bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  in_store commit --quiet --timestamp 0 "$container" "$base_name" >/dev/null
  for certificate in /usr/local/share/ca-certificates/*.crt; do
    [ ! -e "$certificate" ] || in_store add --quiet "$container" "$certificate" /usr/local/share/ca-certificates/ >/dev/null
  done
  in_store commit --quiet --rm --timestamp 0 "$container" "$builder_name" >/dev/null
}

# save_image CONTAINER NAME: commits a container as image NAME and writes its archive.
save_image() {
  local name
  name=$(image_name "$2")
  in_store commit --quiet --rm --timestamp 0 --format docker "$1" "$name" >/dev/null
  in_store push --quiet "$name" "docker-archive:$work/$2.tar:$name"
  mv "$work/$2.tar" "$images/$2.tar"
  rm -rf "$images"/imported-*
}

# is_newer NAME FILE...: whether an image's archive is newer than its source files.
is_newer() {
  local archive=$images/$1.tar file
  shift
  for file in "$@"; do [ "$archive" -nt "$file" ] || return 1; done
}

# provide_pause: builds the pause image of test clusters, whose process holds a pod's namespaces: a Debian that sleeps.
provide_pause() {
  if is_newer pause "$base"; then return; fi
  local container
  container=$(in_store from --pull-never "$base_name")
  in_store config --entrypoint '["/bin/sleep", "infinity"]' --cmd '' --user 65535:65535 "$container"
  save_image "$container" pause
}

# provide_servers: builds replacements of the official images postgres and nats for test clusters, with the users, paths and settings
# that the chart's evaluation profile expects. PostgreSQL is Debian's, nats-server the tests'.
provide_servers() {
  local container entry=k8s/test-cluster/postgres.sh nats
  if ! is_newer postgres "$base" "$entry"; then
    say 'building the image postgres'
    container=$(in_store from --pull-never "$base_name")
    in_store run --isolation chroot "$container" -- sh -c 'set -e
      echo "postgres:x:999:999::/var/lib/postgresql:/bin/sh" >>/etc/passwd
      echo "postgres:x:999:" >>/etc/group
      mkdir /etc/postgresql-common
      echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
      apt-get -q update
      apt-get -q install -y --no-install-recommends postgresql-15
      rm -rf /var/lib/apt/lists/* /var/cache/apt/*' >"$work/postgres.log" 2>&1 || {
      tail -n 20 "$work/postgres.log" >&2
      die 'the image postgres could not be built (see above).'
    }
    in_store add --quiet "$container" "$entry" /usr/local/bin/ >/dev/null
    in_store config --entrypoint '["/usr/local/bin/postgres.sh"]' --cmd '' --env PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin "$container"
    save_image "$container" postgres
  fi
  nats=$(compgen -G '.tools/nats-server-*/nats-server' || command -v nats-server)
  if is_newer nats "$base" "$nats"; then return; fi
  container=$(in_store from --pull-never "$base_name")
  in_store add --quiet "$container" "$nats" /nats-server >/dev/null
  in_store config --entrypoint '["/nats-server"]' --cmd '' "$container"
  save_image "$container" nats
}
