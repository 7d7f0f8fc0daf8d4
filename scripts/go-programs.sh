# Shared by what builds Go programs into .tools (sourced after fetch.sh, POSIX sh). Modules are fetched the way Go is set up on
# this machine; where there is no Go, a pinned one is installed.

# Of what tests beside it leave: alone, none takes more than 12 minutes of two cores.
build_limit=70m

# use_go: puts Go on PATH. It must not fetch another Go, nor read settings of a workspace around this checkout.
use_go() {
  export GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0 GOFLAGS='-mod=readonly -trimpath -buildvcs=false'
  go_folder=$(scripts/provide-go.sh)
  export PATH="$go_folder:$PATH"
}

# gently COMMAND...: runs a build at the lowest priority, for $build_limit at most.
gently() {
  nice -n 19 timeout "$build_limit" "$@"
}

# build_once NAME TITLE COMMAND FILE...: runs `COMMAND FOLDER`, which puts programs into FOLDER and returns 1 where one cannot be
# built, once per version of Go and content of FILEs, and points .tools/NAME at them. Silent when they are there.
build_once() {
  name=$1 title=$2 command=$3
  shift 3
  hash=$({ go env GOVERSION GOOS GOARCH; cat "$@" "$0"; } | sha256sum | cut -c 1-16)
  built=$PWD/.tools/$name-$hash
  if [ ! -d "$built" ]; then
    start_work "$name.lock" 3600
    # Who had the lock may have built it.
    if [ ! -d "$built" ]; then
      say "building $title: some minutes the first time"
      mkdir "$work/built"
      "$command" "$work/built" || die "the build failed (see above), or took longer than $build_limit."
      mv -T "$work/built" "$built"
    fi
  fi
  # The link is renamed into place: a reader finds the old build or the new one.
  ln -sfn "$name-$hash" ".tools/$name.new"
  mv -T ".tools/$name.new" ".tools/$name"
  for old in ".tools/$name"-*; do
    [ "$PWD/$old" = "$built" ] || rm -rf "$old"
  done
}
