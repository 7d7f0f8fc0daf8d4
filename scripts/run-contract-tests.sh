#!/usr/bin/env bash
# Runs schemathesis against a running gateway, by test/contract/run.ts. Installs it the first time, below .tools, at an exact
# version; arguments are passed on to it. Asks nothing, ends within 10 minutes.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

version=4.32.5
folder=.tools/schemathesis-$version

# The mark says that the installation came to its end.
if [ ! -e "$folder/installed" ]; then
  echo "installing schemathesis $version"
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "schemathesis==$version"
  touch "$folder/installed"
fi

exec timeout --kill-after=10s 10m node test/contract/run.ts "$folder/bin/schemathesis" --no-color --warnings=off "$@"
