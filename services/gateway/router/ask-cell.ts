import { Agent, type Dispatcher } from 'undici'
import type { Cell } from '#shared/config/settings/router.ts'
import { idleMs } from '#gateway/http/server-bounds.ts'
import type { Credential } from './credential.ts'
import { requestCell } from './request-cell.ts'

/** Path at which gateways say whether they know a credential. */
export const credentialsPath = '/router/credentials'

const connectMs = 2000
/** Bound on an answer, for which a gateway reads its database. */
const answerMs = 2000

const readAnswer = (text: string): unknown =>
  (JSON.parse(text) as { readonly data?: { readonly is_known?: unknown } }).data?.is_known

/** Opens connections to the gateways of all cells, as many as there are requests; dispose closes them. */
export const openCells = (token: string) => {
  const agent: Dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return {
    agent,
    /** Whether a cell knows the credential, valid or not. Throws if it does not say so within two seconds. */
    ask: async ({ url: origin }: Cell, credential: Credential): Promise<boolean> => {
      const body = JSON.stringify(credential)
      const signal = AbortSignal.timeout(answerMs)
      const sent = { origin, path: credentialsPath, method: 'POST', headers, body, signal } as const
      const { statusCode, body: received } = await requestCell(agent, sent, true)
      const text = await received.text()
      const isKnown = statusCode === 200 ? readAnswer(text) : undefined
      if (typeof isKnown === 'boolean') return isKnown
      // What no gateway takes for a credential is nobody's; it says nothing about the cell.
      if (statusCode === 422 || statusCode === 400) return false
      throw new Error(`status ${statusCode}`)
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}
