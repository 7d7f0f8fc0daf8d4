# Functions to build Go programs into .tools (sourced after fetch.sh, POSIX sh). Modules are downloaded with this machine's Go
# settings; a pinned Go is installed if there is none.

# Allows for tests that run at the same time: alone, no build takes more than 12 minutes on two cores.
build_limit=70m

# use_go: puts Go on PATH. Go must not download another Go, nor read settings of a workspace around this checkout.
use_go() {
  # Without debugging information and inlining, which tests do not need: with GOGC below, Kubernetes takes a fifth less to compile.
  export GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0 GOFLAGS="-mod=readonly -trimpath -buildvcs=false '-gcflags=all=-dwarf=false -l'"
  go_folder=$(scripts/provide-go.sh)
  export PATH="$go_folder:$PATH"
}

# gently COMMAND...: runs a build at the lowest priority, for $build_limit at most. A compiler, which ends soon, collects garbage only
# beyond a memory limit: a twelfth less time than with GOGC=400.
gently() {
  GOGC=off GOMEMLIMIT=2GiB nice -n 19 timeout "$build_limit" "$@"
}

# build_once NAME TITLE COMMAND FILE...: runs `COMMAND FOLDER`, which writes programs to FOLDER and returns 1 on failure, once per
# Go version and content of FILEs and the calling script, and points .tools/NAME at them. Prints nothing if they exist.
build_once() {
  name=$1 title=$2 command=$3
  shift 3
  hash=$({ go env GOVERSION GOOS GOARCH; cat "$@" "$0"; } | sha256sum | cut -c 1-16)
  built=$PWD/.tools/$name-$hash
  if [ ! -d "$built" ]; then
    start_work "$name.lock" 3600
    # The previous holder of the lock may have built it.
    if [ ! -d "$built" ]; then
      say "building $title, takes some minutes the first time"
      mkdir "$work/built"
      "$command" "$work/built" || die "the build failed (see above), or took longer than $build_limit."
      mv -T "$work/built" "$built"
    fi
  fi
  # Replace the link atomically: a reader finds the old build or the new one.
  ln -sfn "$name-$hash" ".tools/$name.new"
  mv -T ".tools/$name.new" ".tools/$name"
  for old in ".tools/$name"-*; do
    [ "$PWD/$old" = "$built" ] || rm -rf "$old"
  done
}

build_package() {
  gently go -C "tools/$name" build -ldflags '-s -w' -o "$1/" "$package"
}

# build_program NAME TITLE PACKAGE: builds the program of a Go package, of the version of tools/NAME, once, as .tools/NAME with the last
# part of PACKAGE as the program's name.
build_program() {
  package=$3
  use_go
  build_once "$1" "$2" build_package "tools/$1/go.mod" "tools/$1/go.sum"
}
