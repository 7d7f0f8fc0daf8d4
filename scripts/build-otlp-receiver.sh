#!/bin/sh
# Builds the receiver of traces of tools/otlp-receiver as .tools/otlp-receiver/otlp-receiver, for tests. Exits 1 where the
# build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  gently go -C tools/otlp-receiver build -ldflags '-s -w' -o "$1/otlp-receiver" .
}

use_go
build_once otlp-receiver 'the receiver of traces' build tools/otlp-receiver/go.mod tools/otlp-receiver/go.sum tools/otlp-receiver/main.go
