#!/bin/sh
# Runs test/chaos/run.ts (root) in mount and process namespaces of its own, so that its disks, its clock and its processes end
# with it, however it ends. Its folder is removed at the end. Arguments: representative, --runs N, --seed S, --fault NAME,
# --seconds N; or bite, which takes guards away in copies of the code (test/chaos/bite.ts); or kills, which times captures while
# each process is killed; or failovers, which times those of PostgreSQL; or measure, which times the checker.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
[ "$(id -u)" -eq 0 ] || { echo 'make chaos needs root: it mounts disks and freezes processes' >&2; exit 2; }
if [ "${1:-}" = bite ]; then
  shift
  exec node test/chaos/bite.ts "$@"
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/chaos-XXXXXX")
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/layers"
# In the background, since unshare ignores signals: the end of its child ends the namespaces with all processes.
unshare --mount --ipc --pid --fork --kill-child --mount-proc sh -euc '
  # An overlay, so that the preloaded clock is not written to the machine.
  mount -t tmpfs tmpfs "$1/layers"
  mkdir "$1/layers/new" "$1/layers/work"
  chmod 755 "$1/layers" "$1/layers/new"
  mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/layers/new,workdir=$1/layers/work" /etc
  node test/chaos/run.ts --folder "$@"
  exit $?' sh "$folder" "$@" &
pid=$!
trap 'kill -KILL "$pid"; wait "$pid" || exit 130' HUP INT TERM
wait "$pid"
