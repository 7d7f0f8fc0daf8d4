#!/usr/bin/env bash
# Runs a Kubernetes node (containerd, kubelet, kube-proxy) on this machine in mount, network, process, host name and IPC
# namespaces of its own, until SIGTERM. Then it leaves nothing behind: the kernel kills all processes of the namespace with its
# first one, as in a power loss; mounts, interfaces and packet filter rules disappear with the namespaces, and its cgroups
# are removed. Needs root and cgroup v1 with the driver cgroupfs. Environment variables:
#
#   NODE_NAME     name of the node
#   NODE_FOLDER   absolute path of the folder with containerd.toml, kubelet.json, kube-proxy.json, a kubeconfig for both, and all state
#   NODE_ADDRESS  address of the node in the bridge's network, with prefix length
#   NODE_PODS     pod network of the node, as CIDR
#   NODE_CGROUP   name of the node's cgroup, in each hierarchy
#   NODE_IMAGES   archives to import, separated by spaces
#   NODE_IMPORTED folder that caches imported images across nodes; used only if it is on the file system of NODE_FOLDER
#   NODE_PROGRAMS folders of kubelet and kube-proxy, and of containerd, separated by a colon
#   BRIDGE        the machine's bridge that nodes are attached to
#   VETH          name of this node's interface on the machine
#   GATEWAY       address of the machine on the bridge
#   ROUTES        networks of the pods of other nodes: NETWORK=ADDRESS, separated by spaces
#
# Creates NODE_FOLDER/running once images are imported and all programs are started. Logs are in NODE_FOLDER/*.log;
# NODE_FOLDER/pid contains the id of a process in the node's network namespace.
set -euo pipefail

start_limit=30
import_limit=300
end_limit=30

# until_true SECONDS COMMAND...: retries ten times a second; exits the node if the command never succeeds.
until_true() {
  local tries=$(($1 * 10))
  shift
  # No `return`: within a trap on EXIT it would return from the trap.
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

# removed CGROUP: removes the cgroup; fails until its last process has been reaped.
removed() {
  [ ! -d "$1" ] || find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
}

# on_machine COMMAND...: runs in the machine's network namespace, which is open as file descriptor 8.
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

# copy_images FROM TO: hard-links the files that containerd writes only once (a second instead of minutes), and copies its
# databases. Fails if FROM is missing or on another file system.
copy_images() {
  local database
  cp -al "$1" "$2" && (cd "$2" && find . -name '*.db') | while read -r database; do
    cp --remove-destination "$1/$database" "$2/$database"
  done
}

# kubelet sets these sysctls for the whole kernel unless they have these values: bind-mounted files hide the real ones from it.
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

# Runs as the first process of the namespaces. Ends when one of its programs ends.
run_inside() {
  export PATH="$NODE_PROGRAMS:$PATH"
  ctr=(ctr --address "$NODE_FOLDER/containerd/containerd.sock" --namespace k8s.io)
  # Makes kubelet's mounts visible to containerd.
  mount --make-rshared /
  local folder
  for folder in /run/netns /run/containerd; do
    mkdir -p "$folder"
    mount -t tmpfs tmpfs "$folder"
  done
  set_up_network
  exec 8<&-

  # Of the nodes that start together, only one imports.
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
    # Left behind by a node that ended during its copy.
    rm -rf "$NODE_IMPORTED.new"
    if copy_images "$NODE_FOLDER/containerd/root" "$NODE_IMPORTED.new" 2>/dev/null; then
      mv -T "$NODE_IMPORTED.new" "$NODE_IMPORTED"
    fi
    rm -rf "$NODE_IMPORTED.new"
    start_containerd
  fi
  # Closing the descriptor would not unlock it: containerd inherits it.
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
[ -f /sys/fs/cgroup/memory/tasks ] || { echo 'a node needs cgroup v1: this machine has only v2' >&2; exit 1; }
make_cgroups
exec 8</proc/self/ns/net
unshare --mount --net --pid --uts --ipc --fork --kill-child --mount-proc --propagation private "$0" --inside &
node=$!
echo "$node" >"$NODE_FOLDER/pid"
end() {
  trap - EXIT
  # Cleanup continues if the parent process ends and the kernel sends these signals.
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
