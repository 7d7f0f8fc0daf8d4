#!/bin/sh
# Builds the control plane for tests (tools/k8s) into .tools, once per combination of sources and Go version, and points
# .tools/test-cluster at it. Prints nothing if it exists. The first build takes minutes and 4 GB in Go's two caches, at the
# lowest priority. Modules are downloaded with this machine's Go settings; a pinned Go is installed if there is none. Exits 1
# if the build fails.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
source=$root/tools/k8s
programs='etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl kwok'
build_limit=60m

say() {
  printf 'test-cluster: %s\n' "$*" >&2
}

# pinned MODULE: prints its version in go.mod.
pinned() {
  awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' "$source/go.mod"
}

# Linker flags that set the programs' reported versions, which charts and version skew checks read.
version_flags() {
  kubernetes=$(pinned k8s.io/kubernetes)
  minor=${kubernetes#v1.}
  minor=${minor%%.*}
  printf '%s' "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=$(pinned sigs.k8s.io/kwok)"
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf ' -X %s' "$package.gitVersion=$kubernetes" "$package.gitMajor=1" "$package.gitMinor=$minor" \
      "$package.gitTreeState=clean" "$package.buildDate=1970-01-01T00:00:00Z"
  done
}

# Go must not download another Go, nor read settings of a workspace around this checkout.
export GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0 GOFLAGS='-mod=readonly -trimpath -buildvcs=false'

folder=$("$root/scripts/provide-go.sh")
export PATH="$folder:$PATH"
found=$(go env GOVERSION)

mkdir -p "$root/.tools"
exec 9>"$root/.tools/test-cluster.lock"
flock -w 3600 9 || { say 'another build has held .tools/test-cluster.lock for an hour.'; exit 1; }

flags=$(version_flags)
hash=$({ go env GOVERSION GOOS GOARCH; echo "$flags"; cat "$source/go.mod" "$source/go.sum" "$source/main.go"; } | sha256sum | cut -c 1-16)
built=$root/.tools/test-cluster-$hash
if [ ! -d "$built" ]; then
  say "building Kubernetes $(pinned k8s.io/kubernetes) with $found: some minutes the first time"
  work=$(mktemp -d "$root/.tools/test-cluster-work.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  gently='nice -n 19'
  if command -v ionice >/dev/null 2>&1; then gently="$gently ionice -c 3"; fi
  (cd "$source" && timeout "$build_limit" $gently go build -ldflags "$flags" -o "$work/kb" .) ||
    { say "the build failed (see above), or took longer than $build_limit."; exit 1; }
  for program in $programs; do ln -s kb "$work/$program"; done
  chmod 755 "$work"
  mv -T "$work" "$built"
fi

# Replace the link atomically: a reader finds the old build or the new one.
ln -sfn "test-cluster-$hash" "$root/.tools/test-cluster.new"
mv -T "$root/.tools/test-cluster.new" "$root/.tools/test-cluster"
for old in "$root"/.tools/test-cluster-*; do
  [ "$old" = "$built" ] || rm -rf "$old"
done
