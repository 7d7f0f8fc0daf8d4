#!/bin/sh
# Builds KEDA of the version of tools/keda as .tools/keda/operator and adapter, with its manifests as .tools/keda/config. Its
# scalers but that of Prometheus are left out, with the clients of clouds and databases that only they use: half of the packages
# that would be compiled. Exits 1 where the build fails.
set -eu
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
. scripts/fetch.sh
. scripts/go-programs.sh

build() {
  # Compared with go.sum; what it requires is compared with its own.
  sources=$(go -C tools/keda mod download -json github.com/kedacore/keda/v2 | sed -nE 's/^\s*"Dir": "(.*)",$/\1/p')
  cp -r "$sources" "$work/sources" && chmod -R u+w "$work/sources" || return 1
  scalers=$work/sources/pkg/scalers
  find "$scalers" -maxdepth 1 -name '*_scaler.go' ! -name prometheus_scaler.go -delete || return 1
  (cd "$scalers" && rm azure/azure_app_insights.go azure/azure_data_explorer.go azure/azure_eventhub*.go azure/azure_storage.go \
    gcp/gcp_stackdriver_client.go) || return 1
  # The constant is declared by a scaler that is left out.
  sed -i 's/\bexternalMetricType\b/"External"/' "$scalers/prometheus_scaler.go" || return 1
  sed -i '/switch triggerType {/,/default:/{/switch\|rometheus\|default:/!d}' "$work/sources/pkg/scaling/scalers_builder.go" || return 1
  version="-X github.com/kedacore/keda/v2/version.Version=${sources##*@v}"
  gently go -C "$work/sources" build -ldflags "-s -w $version" -o "$1/" ./cmd/operator ./cmd/adapter || return 1
  cp -r "$work/sources/config" "$1/config"
}

use_go
build_once keda KEDA build tools/keda/go.mod tools/keda/go.sum
