#!/bin/sh
# Checks the Python client and runs its tests with the wheel that users install. With SHUTTERFLEET_URL and SHUTTERFLEET_KEY,
# also those against a running service. Installs exact versions of what it needs into .tools the first time.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"

client=clients/python
hash=$({ python3 --version; cat "$client/requirements-test.txt"; } | sha256sum | cut -c 1-16)
tools=$PWD/.tools/python-client-$hash
work=$(mktemp -d .tools/python-client-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ ! -d "$tools" ]; then
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
    --target "$work/tools" --requirement "$client/requirements-test.txt"
  # Fails where another run was faster.
  mv -T "$work/tools" "$tools" 2>/dev/null || [ -d "$tools" ]
fi
export PYTHONPATH="$tools" PYTHONDONTWRITEBYTECODE=1
python3 -m ruff check --quiet --no-cache "$client"
python3 -m ruff format --check --quiet --no-cache "$client"
python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work" "$client"
python3 -m zipfile -e "$work"/shutterfleet-*.whl "$work/installed"
export PYTHONPATH="$PWD/$work/installed:$tools"
python3 -m mypy --no-incremental --config-file "$client/pyproject.toml" "$work/installed/shutterfleet" "$client/tests"
python3 -m pytest -p no:cacheprovider --rootdir "$client" "$client/tests"
