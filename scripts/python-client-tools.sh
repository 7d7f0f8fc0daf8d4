# Shared by test-python-client.sh and the release (sourced, POSIX sh, from the root): what the Python client is built and tested with.

client=clients/python

# provide_python_tools: installs exact versions of the tools into .tools the first time, sets $tools and PYTHONPATH. Uses $work.
provide_python_tools() {
  hash=$({ python3 --version; cat "$client/requirements-test.txt"; } | sha256sum | cut -c 1-16)
  tools=$PWD/.tools/python-client-$hash
  if [ ! -d "$tools" ]; then
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
      --target "$work/tools" --requirement "$client/requirements-test.txt"
    # Fails where another run was faster.
    mv -T "$work/tools" "$tools" 2>/dev/null || [ -d "$tools" ]
  fi
  export PYTHONPATH="$tools" PYTHONDONTWRITEBYTECODE=1
}

# build_wheel FOLDER: builds the wheel that users install.
build_wheel() {
  python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$1" "$client"
}
