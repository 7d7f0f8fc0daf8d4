#!/bin/sh
# Checks the workflows of .github with actionlint, built from its module, and zizmor, installed from its wheel. Exits 1 if one
# finds anything.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  gently go -C tools/actionlint build -ldflags '-s -w' -o "$1/" github.com/rhysd/actionlint/cmd/actionlint &&
    fetch_wheel "zizmor==$zizmor_version" "$zizmor_sha256" "$work/wheel" &&
    mv "$work/wheel/zizmor-$zizmor_version.data/scripts/zizmor" "$1/" && chmod 755 "$1/zizmor"
}

zizmor_version=1.32.0
case $(linux_arch) in
  x64) zizmor_sha256=84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071 ;;
  arm64) zizmor_sha256=0cdd38fca6eb34ceb567548548d706332e3535ea66894b9168c048e03207b68c ;;
esac
use_go
build_once actionlint 'actionlint and zizmor' build tools/actionlint/go.mod tools/actionlint/go.sum
.tools/actionlint/actionlint -shellcheck= -pyflakes=
.tools/actionlint/zizmor --quiet --offline --persona=pedantic .github
