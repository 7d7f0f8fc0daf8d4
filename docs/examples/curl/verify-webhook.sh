#!/bin/sh
# Verifies the signature of a delivery: verify-webhook.sh SIGNATURE < BODY
# SIGNATURE is the header X-Webhook-Signature, BODY the raw body, SECRET the webhook's secret.
set -eu
: "${SECRET:?the secret of the webhook, whsec_...}"

expected=$(openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')
if [ "$expected" != "${1:-}" ]; then
  echo 'signature invalid' >&2
  exit 1
fi
echo 'signature valid'
