#!/bin/sh
# Checks the Python client and runs its tests with the wheel that users install. With SHUTTERFLEET_URL and SHUTTERFLEET_KEY,
# also those against a running service. Installs exact versions of what it needs into .tools the first time.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"

. scripts/python-client-tools.sh
work=$(mktemp -d .tools/python-client-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
provide_python_tools
python3 -m ruff check --quiet --no-cache "$client"
python3 -m ruff format --check --quiet --no-cache "$client"
build_wheel "$work"
python3 -m zipfile -e "$work"/shutterfleet-*.whl "$work/installed"
export PYTHONPATH="$PWD/$work/installed:$tools"
python3 -m mypy --no-incremental --config-file "$client/pyproject.toml" "$work/installed/shutterfleet" "$client/tests"
python3 -m pytest -p no:cacheprovider --rootdir "$client" "$client/tests"
