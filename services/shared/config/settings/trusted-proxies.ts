import { cidrs } from './egress.ts'

/** Proxies before a server for clients; the same of the gateway and of the router. */
export const trustedProxies = cidrs(
  'TRUSTED_PROXIES',
  'proxies in front of the server for clients, as CIDRs or IP addresses, whose X-Forwarded-For is trusted; empty: none',
)
