import type { CallersProxy } from '#shared/net/callers-proxy.ts'

/** The header, name and value, that gives a proxy its credentials (RFC 7617, UTF-8); empty where there are none. */
export const proxyAuthorization = ({ credentials }: Pick<CallersProxy, 'credentials'>): readonly string[] => {
  if (credentials === undefined) return []
  const pair = Buffer.from(`${credentials.user}:${credentials.password}`)
  return ['Proxy-Authorization', `Basic ${pair.toString('base64')}`]
}
