#!/bin/sh
# Builds the ingress controller Traefik of the version of tools/traefik as .tools/traefik/traefik, for tests. The ACME providers for
# DNS and the provider of ECS are left out: SDKs of clouds and 200 hosters, most of what is compiled. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  # Compared with go.sum; so is what it requires.
  sources=$(go -C tools/traefik mod download -json github.com/traefik/traefik/v3 | sed -nE 's/^\s*"Dir": "(.*)",$/\1/p')
  cp -r "$sources" "$work/traefik" && chmod -R u+w "$work/traefik" && cp tools/traefik/go.mod tools/traefik/go.sum "$work/" || return 1
  sed -i -e '/lego\/v5\/providers\/dns"/d' -e 's/dns\.NewDNSChallengeProviderByName(.*)/nil, errors.New("built without DNS providers")/' \
    "$work/traefik/pkg/provider/acme/provider.go" || return 1
  sed -i '/\<ecs\>/d' "$work/traefik/pkg/config/static/static_config.go" || return 1
  sed -i '/conf\.Ecs != nil/,/}/d' "$work/traefik/pkg/provider/aggregator/aggregator.go" || return 1
  # A module of two empty structures, which is in no registry.
  config=$work/traefik/pkg/config/dynamic
  sed -i 's/traefik\/dynamic\/ext"/traefik\/v3\/pkg\/config\/dynamic\/ext"/' "$config/http_config.go" && mkdir "$config/ext" &&
    printf 'package ext\n\ntype HTTP struct{}\n\ntype Router struct{}\n' >"$config/ext/ext.go" || return 1
  go -C "$work" mod edit -replace github.com/traefik/traefik/v3=./traefik || return 1
  gently go -C "$work" build -ldflags '-s -w' -o "$1/traefik" github.com/traefik/traefik/v3/cmd/traefik
}

use_go
build_once traefik Traefik build tools/traefik/go.mod tools/traefik/go.sum
