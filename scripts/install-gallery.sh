#!/bin/sh
# Installs the locked libraries that the pages of the gallery use into .tools/gallery, for tests: 380 MB, half a minute. Needs
# `make setup`. Prints nothing if everything is up to date.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh

source=test/fixtures/gallery/packages
if cmp -s "$source/package-lock.json" .tools/gallery/package-lock.json; then exit 0; fi
start_work gallery.lock
if cmp -s "$source/package-lock.json" .tools/gallery/package-lock.json; then exit 0; fi
say 'installing the libraries of the gallery'
use_npm_settings
cp .npmrc "$source"/*.json "$work"
# Peers are frameworks for which a library has an adapter that no page uses.
npm --prefix "$work" ci --legacy-peer-deps >/dev/null || die "'npm ci' failed (see above)."
rm -rf .tools/gallery
mkdir .tools/gallery
mv "$work/node_modules" .tools/gallery
cp "$source/package-lock.json" .tools/gallery
