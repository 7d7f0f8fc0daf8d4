/** Node's codes of a certificate that no trusted authority has signed (`X509_V_ERR_…` of OpenSSL). */
const codes = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Levels of nested causes that are checked. */
const depthMax = 4

const isOfAuthority = (thrown: unknown, depth = 0): boolean => {
  const { code, cause } = (thrown ?? {}) as { code?: unknown; cause?: unknown }
  return codes.has(String(code)) || (depth < depthMax && cause !== undefined && isOfAuthority(cause, depth + 1))
}

/** End of the message of a failed connection: which variable to set if it failed because of an untrusted authority, else ''. */
export const trustAdvice = (thrown: unknown): string =>
  isOfAuthority(thrown)
    ? '; its certificate is of an authority that is not trusted here: NODE_EXTRA_CA_CERTS has to name a PEM file with it (value extraCa.configMap of the chart)'
    : ''
