import type { Exchange } from '#gateway/http/exchange.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An id that no capture has: malformed ids take the same way and the same time as unknown ones. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The id of a capture that the path names, in lower case; one that no capture has where it names none. */
export const pathId = (exchange: Pick<Exchange, 'params'>): string => {
  const given = exchange.params['id'] ?? ''
  return uuid.test(given) ? given.toLowerCase() : nobody
}
