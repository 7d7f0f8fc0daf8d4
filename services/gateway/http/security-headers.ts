/** A year, as browsers demand of hosts that are to stay on TLS. */
const hstsSeconds = 31_536_000

/** Headers of every response: browsers guess no content type, and stay on TLS where the service is reached by it (RFC 6797). */
export const securityHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  'x-content-type-options': 'nosniff',
  ...(publicUrl.startsWith('https:') && { 'strict-transport-security': `max-age=${hstsSeconds}` }),
})
