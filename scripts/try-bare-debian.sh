#!/usr/bin/env bash
# Tests the committed state of this checkout on a bare Debian, like a fresh clone.
#
#   sudo scripts/try-bare-debian.sh [--suite bookworm] [--folder /tmp/bare-debian] [COMMAND [ARGUMENT...]]
#
# Creates a minimal Debian with only make, curl, tar, pip, git and certificates (by debootstrap, once; cached as a tar in the
# folder), clones HEAD into root's home in a fresh copy, which only root can enter, and runs COMMAND there (default: make
# test). Exits with COMMAND's code and removes the copy.
#
# - The copy is entered by pivot_root in new mount and process namespaces, not by chroot, in which the kernel refuses user
#   namespaces and thus the browser's sandbox. Nothing is mounted outside of the namespace, and all its processes end with
#   COMMAND.
# - This machine's package sources, certificates, and settings of apt, pip and npm are copied, so that downloads use the
#   same sources. They are not in the cached tar.
# - The network is shared: ports and abstract sockets in use on this machine are in use in the copy.
# Needs root, git and debootstrap.
set -euo pipefail
checkout=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
suite=bookworm
folder=${TMPDIR:-/tmp}/bare-debian

fail() {
  echo "try-bare-debian: $*" >&2
  exit 1
}

note() {
  echo "try-bare-debian: $* ($SECONDS s)" >&2
}

# This machine's package source of the suite; empty, for debootstrap's default, if it has another Debian or none.
mirror() {
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -v suite="$suite" '$1 == suite { print $2; exit }'
}

make_base() {
  note "creating a minimal Debian $suite, only the first time"
  debootstrap --variant=minbase --include=make,curl,tar,python3-pip,ca-certificates,git \
    "$suite" "$bare" $(mirror) >"$folder/debootstrap.log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 5 "$folder/debootstrap.log")"
  rm -rf "$bare"/var/cache/apt/archives/*.deb "$bare"/var/lib/apt/lists/*
  tar -cf "$base.partial" -C "$bare" .
  mv "$base.partial" "$base"
}

# copy_into FOLDER PATH...: copies those of these files and folders that exist into the folder. Links in the bare Debian point
# to paths of this machine as long as it is not the root, so they are replaced and never followed.
copy_into() {
  local target=$1 path
  shift
  for path in "$@"; do
    [ -e "$path" ] || continue
    mkdir -p "$target"
    cp --recursive --dereference --preserve=mode --remove-destination "$path" "$target/"
  done
}

# carry PATH...: copies these files and folders of this machine to the same paths in the copy.
carry() {
  local path
  for path in "$@"; do copy_into "$bare$(dirname "$path")" "$path"; done
}

carry_settings() {
  carry /etc/resolv.conf /etc/hosts /etc/ssl/certs /usr/local/share/ca-certificates /etc/pip.conf /etc/xdg/pip
  carry /etc/npmrc /usr/etc/npmrc /usr/local/etc/npmrc
  if [ -n "$(mirror)" ]; then
    rm -f "$bare/etc/apt/sources.list"
    carry /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} /etc/apt/auth.conf /etc/apt/auth.conf.d
    carry /etc/apt/trusted.gpg /etc/apt/trusted.gpg.d /etc/apt/keyrings /usr/share/keyrings
  fi
  # Only settings of downloads; others name programs that are not in the copy.
  carry $(grep -lsE '^[[:space:]]*Acquire\b' /etc/apt/apt.conf /etc/apt/apt.conf.d/*)
  copy_into "$bare/root" "$HOME/.npmrc" "$HOME/.pip"
  copy_into "$bare/root/.config" "$HOME/.config/pip"
}

# The environment of COMMAND: of this machine's only the settings of downloads.
settings_of_environment() {
  env -0 | grep -zE '^(PIP_|NPM_CONFIG_|npm_config_|SSL_CERT_|NODE_EXTRA_CA_CERTS=|CURL_CA_BUNDLE=|REQUESTS_CA_BUNDLE=|GIT_SSL_CAINFO=|(https?|no|all|HTTPS?|NO|ALL)_(proxy|PROXY)=)'
}

# Runs as the first process of the namespaces: makes the copy the root, then runs COMMAND and waits for it.
enter() {
  cd "$1"
  shift
  mount --bind . .
  cd "$PWD"
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount --rbind /sys/fs/cgroup sys/fs/cgroup
  mount -t tmpfs -o mode=0755 tmpfs dev
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
  mount -t tmpfs -o mode=1777 tmpfs dev/shm
  mount -t tmpfs -o mode=0755 tmpfs run
  local device
  for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
  done
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  ln -s /proc/self/fd/0 dev/stdin
  ln -s /proc/self/fd/1 dev/stdout
  ln -s /proc/self/fd/2 dev/stderr
  mkdir -p mnt/outside
  pivot_root . mnt/outside
  cd ~/shutterfleet
  umount -l /mnt/outside
  "$@"
}

if [ "${1:-}" = --enter ]; then
  shift
  enter "$@"
  exit
fi

while [ $# -gt 0 ]; do
  case $1 in
    --suite) suite=${2:?} && shift 2 ;;
    --folder) folder=${2:?} && shift 2 ;;
    --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0" && exit ;;
    -*) fail "unknown option: $1 (see --help)" ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || set -- make test
[ "$(id -u)" = 0 ] || fail 'must run as root, for debootstrap and namespaces'
for tool in git debootstrap unshare pivot_root; do
  command -v "$tool" >/dev/null || fail "$tool not found. Install it: apt-get install -y $tool"
done

mkdir -p -m 0700 "$folder"
base=$folder/$suite.tar
bare=$(mktemp -d "$folder/root.XXXXXX")
trap 'rm -rf --one-file-system "$bare"' EXIT
trap 'exit 130' HUP INT TERM
chmod 755 "$bare"

if [ -f "$base" ]; then tar -xpf "$base" -C "$bare" --numeric-owner; else make_base; fi
carry_settings
git -c safe.directory="$checkout" clone --quiet --no-hardlinks "$checkout" "$bare/root/shutterfleet"
chmod 700 "$bare/root"
[ -z "$(git -c safe.directory="$checkout" -C "$checkout" status --porcelain)" ] || note 'uncommitted changes are not tested'

mapfile -d '' -t settings < <(settings_of_environment)
for setting in "${settings[@]}"; do
  path=${setting#*=}
  # Certificates and settings files that are named by variables, and pip's folders of wheels.
  if [[ $path = /* && (-f $path || $setting = PIP_FIND_LINKS=*) ]]; then carry "$path"; fi
done
note "running: $*"
code=0
unshare --mount --pid --fork --kill-child --propagation private \
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM="${TERM:-dumb}" \
  "${settings[@]}" bash "$0" --enter "$bare" "$@" || code=$?
note "exit code $code"
exit "$code"
