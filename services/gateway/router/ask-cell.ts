import { randomBytes } from 'node:crypto'
import { Agent, type Dispatcher } from 'undici'
import { idleMs } from '#gateway/http/server-options.ts'
import { type Claim, credentialName, isProved, nonceBytes, prefixBytes } from './claim.ts'
import type { RoutedCell } from './config.ts'
import type { Credential } from './credential.ts'
import { requestCell } from './request-cell.ts'

/** Path at which gateways say whether they know a credential. */
export const credentialsPath = '/router/credentials'

const connectMs = 2000
/** Bound on an answer, for which a gateway reads its database. */
const answerMs = 2000

type Claims = readonly { readonly proof?: unknown; readonly is_served?: unknown }[]

/** Throws unless it has a list of claims. */
const readClaims = (text: string): Claim[] => {
  const { claims } = (JSON.parse(text) as { readonly data: { readonly claims: Claims } }).data
  return claims.map(({ proof, is_served: isServed }) => ({ proof: String(proof), isServed: isServed === true }))
}

/**
 * Whether a cell serves the account of a credential; `away`: the account is leaving it, or has not arrived there. A claim without a proof counts as none.
 */
export type Says = 'serves' | 'away' | 'knows not'

/** Opens connections to the gateways of all cells, as many as there are requests; dispose closes them. */
export const openCells = () => {
  const agent: Dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  })
  return {
    agent,
    /** What a cell says of a credential, valid or not, of which it learns a prefix of the hash. Throws if it does not answer within two seconds. */
    ask: async ({ url: origin, token, hashKey }: RoutedCell, credential: Credential): Promise<Says> => {
      const name = credentialName(credential, hashKey)
      const nonce = randomBytes(nonceBytes)
      const question = {
        kind: credential.kind,
        prefix: name.subarray(0, prefixBytes).toString('hex'),
        nonce: nonce.toString('hex'),
      }
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(answerMs)
      const sent = {
        origin,
        path: credentialsPath,
        method: 'POST',
        headers,
        body: JSON.stringify(question),
        signal,
      } as const
      const { statusCode, body: received } = await requestCell(agent, sent, true)
      const text = await received.text()
      if (statusCode !== 200) throw new Error(`status ${statusCode}`)
      const proved = readClaims(text).filter((claim) => isProved(claim, name, nonce))
      if (proved.length === 0) return 'knows not'
      return proved.some(({ isServed }) => isServed) ? 'serves' : 'away'
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}
