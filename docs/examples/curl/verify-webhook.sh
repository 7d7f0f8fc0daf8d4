#!/bin/sh
# Whether a delivery comes from the service: verify-webhook.sh SIGNATURE < BODY
# SIGNATURE is the header X-Webhook-Signature, BODY the body as it came in, SECRET the webhook's secret.
set -eu
: "${SECRET:?the secret of the webhook, whsec_...}"

expected=$(openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')
if [ "$expected" != "${1:-}" ]; then
  echo 'do not trust it' >&2
  exit 1
fi
echo 'it is ours'
