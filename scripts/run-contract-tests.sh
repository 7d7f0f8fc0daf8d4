#!/usr/bin/env bash
# Runs schemathesis against a running gateway with test/contract/run.ts, and passes the arguments on to it. Installs an exact
# version of schemathesis into .tools the first time. Non-interactive; ends within 10 minutes.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

version=4.32.5
folder=.tools/schemathesis-$version

# The mark file means that the installation is complete.
if [ ! -e "$folder/installed" ]; then
  echo "installing schemathesis $version into .tools"
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "schemathesis==$version"
  touch "$folder/installed"
fi

exec timeout --kill-after=10s 10m node test/contract/run.ts "$folder/bin/schemathesis" --no-color --warnings=off "$@"
