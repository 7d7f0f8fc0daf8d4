# What a release requires, checked before anything is made (sourced, bash; after fetch.sh).

check_settings() {
  VERSION=${VERSION:-} REGISTRY=${REGISTRY:-}
  [[ $VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die 'VERSION must be a version such as 1.2.3: make release VERSION=1.2.3 REGISTRY=…'
  [[ $REGISTRY =~ ^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._/-]*)?$ ]] ||
    die 'REGISTRY must be a registry, with a path if it has one, without https://, such as images.example.com/team.'
  TARGETS=${TARGETS:-server worker worker-stealth}
  ARCHES=${ARCHES:-amd64 arm64}
  [ -n "${COSIGN_KEY:-}" ] || { [ -n "${SIGNER:-}" ] && [ -n "${SIGNER_ISSUER:-}" ]; } ||
    die 'set COSIGN_KEY, or SIGNER and SIGNER_ISSUER to sign with an OpenID identity.'
  local each
  for each in $TARGETS; do
    case $each in server | worker | worker-stealth) ;; *) die "TARGETS names $each, which is not server, worker or worker-stealth." ;; esac
  done
  for each in $ARCHES; do
    case $each in amd64 | arm64) ;; *) die "ARCHES names $each, which is neither amd64 nor arm64." ;; esac
  done
}

# check_commit: the working tree is this commit, which states the version everywhere, has its changes written down, and passed the gate.
check_commit() {
  commit=$(git rev-parse HEAD)
  [ -z "$(git status --porcelain)" ] || die 'the working tree has changes that are not committed (git status).'
  local stated
  stated=$(node -p 'require("./package.json").version')
  [ "$stated" = "$VERSION" ] || die "package.json states version $stated, not $VERSION: change it, run make docs, commit."
  [ -n "$(changelog_section)" ] || die "CHANGELOG.md has no section '## $VERSION, YYYY-MM-DD'."
  local tagged
  tagged=$(git rev-parse --quiet --verify "refs/tags/v$VERSION^{commit}" || echo "$commit")
  [ "$tagged" = "$commit" ] || die "the tag v$VERSION is another commit, $tagged: a version is released once."
  local passed
  passed=${GATE_PASSED:-$(cat .tools/gate-passed 2>/dev/null || true)}
  [ "$passed" = "$commit" ] ||
    die "the gate has not passed for this commit, $commit: run make test-all here, or set GATE_PASSED to the commit for which it passed elsewhere."
  node tools/docs/generate.ts --check >&2 || die 'generated files differ from the code (see above): run make docs, commit.'
}

# changelog_section: prints the changes of the dated section of the version.
changelog_section() {
  awk -v version="$VERSION" '/^## /{ inside = index($0, "## " version ", 2") == 1; next } inside' CHANGELOG.md
}

# check_released: the working tree is the commit of the release.
check_released() {
  commit=$(git rev-parse HEAD)
  [ -z "$(git status --porcelain)" ] || die 'the working tree has changes that are not committed (git status).'
  [ "$(git rev-parse --quiet --verify "refs/tags/v$VERSION^{commit}" || true)" = "$commit" ] ||
    die "this is not the commit of release $VERSION: git fetch --tags, git checkout v$VERSION."
}

# check_origins: the installed npm packages are those that the registry has signed.
check_origins() {
  [ "${NPM_SIGNATURES:-verify}" != skip ] || return 0
  say 'verifying the signatures of npm packages'
  timeout 10m npm audit signatures >&2 ||
    die 'npm packages could not be verified (see above). A mirror without signing keys cannot: set NPM_CONFIG_REGISTRY to one that has them, or NPM_SIGNATURES=skip to release without.'
}
