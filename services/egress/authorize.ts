import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { egressTokenHeader, egressTokenValue } from '#shared/net/egress-token.ts'

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether a request shows one of the tokens; every request does where there are none. Takes the same time whatever is shown. */
export const createAuthorization = (tokens: readonly string[]): ((request: IncomingMessage) => boolean) => {
  const expected = tokens.map((token) => digestOf(egressTokenValue(token)))
  return ({ headers }) => {
    const shown = digestOf(headers[egressTokenHeader.toLowerCase()]?.toString() ?? '')
    return expected.length === 0 || expected.filter((digest) => timingSafeEqual(digest, shown)).length > 0
  }
}
