#!/bin/sh
# Installs exact versions of schemathesis and of the linters of OpenAPI documents as .tools/schemathesis and .tools/openapi-linters.
# Prints nothing if they are there.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh

version=4.32.5
schemathesis=.tools/schemathesis-$version
linters=.tools/openapi-linters-$(sha256sum tools/openapi/package-lock.json | cut -c 1-16)
# The mark files mean that an installation is complete.
if [ ! -e "$schemathesis/installed" ] || [ ! -e "$linters/installed" ]; then
  start_work contract-tools.lock 1800
  if [ ! -e "$schemathesis/installed" ]; then
    say "installing schemathesis $version into .tools"
    rm -rf "$schemathesis"
    python3 -m venv "$schemathesis"
    "$schemathesis/bin/python" -m pip install --quiet --disable-pip-version-check "schemathesis==$version"
    touch "$schemathesis/installed"
  fi
  if [ ! -e "$linters/installed" ]; then
    say 'installing the linters of OpenAPI documents into .tools'
    rm -rf "$linters"
    mkdir "$linters"
    cp .npmrc tools/openapi/package.json tools/openapi/package-lock.json "$linters/"
    npm ci --prefix "$linters" --silent
    touch "$linters/installed"
  fi
fi
ln -sfn "$(basename "$schemathesis")" .tools/schemathesis
ln -sfn "$(basename "$linters")" .tools/openapi-linters
