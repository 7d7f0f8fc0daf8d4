#!/usr/bin/env bash
# Runs a Kubernetes node (containerd, kubelet, kube-proxy) on this machine in mount, network, process, host name and IPC
# namespaces of its own, until it gets SIGTERM. Then nothing of it is left: every process ends with the first one of its
# namespace, as when a machine loses power; mounts, interfaces and packet filter rules go with the namespaces, its cgroups
# are removed. Needs root and cgroup v1 with the driver cgroupfs. The environment says what it is:
#
#   NODE_NAME     name of the node
#   NODE_FOLDER   absolute; holds containerd.toml, kubelet.json, kube-proxy.json and a kubeconfig for both; keeps all state
#   NODE_ADDRESS  its address with the length of the prefix, in the network of the bridge
#   NODE_PODS     network of its pods
#   NODE_CGROUP   name of its cgroup, in each hierarchy
#   NODE_IMAGES   archives to import, separated by spaces
#   NODE_IMPORTED folder that keeps them imported for the next node, or has them from an earlier one; used where it is on the
#                 file system of NODE_FOLDER
#   NODE_PROGRAMS folders of kubelet and kube-proxy, and of containerd, separated by a colon
#   BRIDGE        bridge of the machine that nodes are attached to
#   VETH          name of this node's interface on the machine
#   GATEWAY       address of the machine on the bridge
#   ROUTES        networks of the pods of other nodes: NETWORK=ADDRESS, separated by spaces
#
# The file NODE_FOLDER/running appears once images are imported and all programs are started; logs are NODE_FOLDER/*.log,
# NODE_FOLDER/pid names a process in the node's network.
set -euo pipefail

start_limit=30
import_limit=300
end_limit=30

# until_true SECONDS COMMAND...: tries ten times a second; ends the node where that does not help.
until_true() {
  local tries=$(($1 * 10))
  shift
  # No `return`: within a trap on EXIT it would end the trap.
  while ! "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    if [ "$tries" -le 0 ]; then
      echo "node $NODE_NAME: gave up on '$*'" >&2
      exit 1
    fi
    sleep 0.1
  done
}

cgroups() {
  local hierarchy
  for hierarchy in /sys/fs/cgroup/*/; do
    [ ! -f "$hierarchy/cgroup.procs" ] || echo "$hierarchy$NODE_CGROUP"
  done
}

make_cgroups() {
  local cgroup file
  for cgroup in $(cgroups); do
    mkdir -p "$cgroup"
    for file in cpuset.cpus cpuset.mems; do
      [ ! -f "$cgroup/$file" ] || cat "$cgroup/../$file" >"$cgroup/$file"
    done
  done
}

# removed CGROUP: succeeds once nothing is left of it, which is after the last process in it was reaped.
removed() {
  [ ! -d "$1" ] || find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
}

# on_machine COMMAND...: in the network of the machine, which file descriptor 8 is open on.
on_machine() {
  nsenter --net=/proc/self/fd/8 "$@"
}

set_up_network() {
  hostname "$NODE_NAME"
  ip link set lo up
  ip link add eth0 type veth peer name "$VETH" netns /proc/self/fd/8
  on_machine ip link set "$VETH" master "$BRIDGE" up
  ip address add "$NODE_ADDRESS" dev eth0
  ip link set eth0 up
  ip route add default via "$GATEWAY"
  on_machine ip route replace "$NODE_PODS" via "${NODE_ADDRESS%/*}" dev "$BRIDGE"
  local route
  for route in $ROUTES; do ip route add "${route%=*}" via "${route#*=}"; done
  echo 1 >/proc/sys/net/ipv4/ip_forward
}

start_containerd() {
  containerd --config "$NODE_FOLDER/containerd.toml" >>"$NODE_FOLDER/containerd.log" 2>&1 &
  containerd=$!
  until_true "$start_limit" "${ctr[@]}" version
}

import_images() {
  local image
  for image in $NODE_IMAGES; do
    timeout "$import_limit" "${ctr[@]}" images import --local "$image" >>"$NODE_FOLDER/import.log" 2>&1 || {
      echo "node $NODE_NAME: $image cannot be imported: $(tail -n 3 "$NODE_FOLDER/import.log")" >&2
      exit 1
    }
  done
}

# copy_images FROM TO: hard links of what containerd writes but once, which take a second instead of minutes, and copies of
# its databases. Fails where there is nothing, or another file system.
copy_images() {
  local database
  cp -al "$1" "$2" && (cd "$2" && find . -name '*.db') | while read -r database; do
    cp --remove-destination "$1/$database" "$2/$database"
  done
}

# kubelet sets these for the whole kernel unless they have the values already: it finds files of ours in their place.
run_kubelet() {
  mount --make-private /proc
  local setting value name
  for setting in vm.overcommit_memory=1 vm.panic_on_oom=0 kernel.panic=10 kernel.panic_on_oops=1 \
    kernel.keys.root_maxkeys=1000000 kernel.keys.root_maxbytes=25000000; do
    name=${setting%=*} value=${setting#*=}
    echo "$value" >"$NODE_FOLDER/$name"
    mount --bind "$NODE_FOLDER/$name" "/proc/sys/${name//./\/}"
  done
  exec kubelet --config="$NODE_FOLDER/kubelet.json" --kubeconfig="$NODE_FOLDER/kubelet.kubeconfig" \
    --root-dir="$NODE_FOLDER/kubelet" --cert-dir="$NODE_FOLDER/kubelet/pki" --hostname-override="$NODE_NAME" \
    --node-ip="${NODE_ADDRESS%/*}"
}

# The first process of the namespaces. When one of its programs ends, so does the node.
run_inside() {
  export PATH="$NODE_PROGRAMS:$PATH"
  ctr=(ctr --address "$NODE_FOLDER/containerd/containerd.sock" --namespace k8s.io)
  # Mounts of kubelet are seen by containerd.
  mount --make-rshared /
  local folder
  for folder in /run/netns /run/containerd; do
    mkdir -p "$folder"
    mount -t tmpfs tmpfs "$folder"
  done
  set_up_network
  exec 8<&-

  # One node imports, for all that start with it.
  exec 7>"$NODE_IMPORTED.lock"
  flock -w "$import_limit" 7
  if copy_images "$NODE_IMPORTED" "$NODE_FOLDER/containerd/root" 2>/dev/null; then
    start_containerd
  else
    rm -rf "$NODE_FOLDER/containerd/root"
    start_containerd
    import_images
    kill "$containerd"
    wait "$containerd" || true
    # Of a node that ended meanwhile.
    rm -rf "$NODE_IMPORTED.new"
    if copy_images "$NODE_FOLDER/containerd/root" "$NODE_IMPORTED.new" 2>/dev/null; then
      mv -T "$NODE_IMPORTED.new" "$NODE_IMPORTED"
    fi
    rm -rf "$NODE_IMPORTED.new"
    start_containerd
  fi
  # Not by closing it, which containerd has open too.
  flock -u 7
  kube-proxy --config="$NODE_FOLDER/kube-proxy.json" >"$NODE_FOLDER/kube-proxy.log" 2>&1 &
  unshare --mount --propagation unchanged "$0" --kubelet >"$NODE_FOLDER/kubelet.log" 2>&1 &
  touch "$NODE_FOLDER/running"
  local pid code=0
  wait -n -p pid || code=$?
  echo "node $NODE_NAME: one of its programs ended with $code (process $pid)" >&2
  exit 1
}

case ${1:-} in
  --inside) run_inside ;;
  --kubelet) run_kubelet ;;
esac

[ "$(id -u)" = 0 ] || { echo 'a node needs root' >&2; exit 1; }
[ -f /sys/fs/cgroup/memory/tasks ] || { echo 'a node needs cgroup v1: this machine has v2 alone' >&2; exit 1; }
make_cgroups
exec 8</proc/self/ns/net
unshare --mount --net --pid --uts --ipc --fork --kill-child --mount-proc --propagation private "$0" --inside &
node=$!
echo "$node" >"$NODE_FOLDER/pid"
end() {
  trap - EXIT
  # Whoever started this may end meanwhile, of which the kernel tells.
  trap '' HUP INT TERM PIPE
  kill -KILL "$node" 2>/dev/null || true
  wait "$node" 2>/dev/null || true
  ip link delete "$VETH" 2>/dev/null || true
  local cgroup
  for cgroup in $(cgroups); do until_true "$end_limit" removed "$cgroup"; done
}
trap end EXIT
trap 'exit 143' HUP INT TERM
wait "$node"
