import { enumSchema, object, text } from '#shared/schema/fields.ts'
import { createTokenCheck } from '#gateway/admin/admin-tokens.ts'
import type { FindCredentials } from '#gateway/db/known-credentials.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import type { Clients } from '#gateway/http/identification/clients.ts'
import { createBodyReader, readJson } from '#gateway/http/input.ts'
import { claimOf, nonceBytes, prefixBytes } from './claim.ts'
import { credentialKinds } from './credential.ts'

const hex = (bytes: number) => text(undefined, { pattern: `^[0-9a-f]{${bytes * 2}}$` })

const readQuestion = createBodyReader(
  object({ kind: enumSchema(credentialKinds), prefix: hex(prefixBytes), nonce: hex(nonceBytes) }),
)

/** Captures of one millisecond share a prefix with one in 4096. */
const claimsMax = 8

type Dependencies = {
  /** Empty: no router may ask. */
  readonly routerToken: string
  readonly findCredentials: FindCredentials
  readonly clients: Pick<Clients, 'find'>
}

/**
 * Creates the operation by which a router asks whether an account of this cell has a credential, valid or not, of which it sends a
 * prefix of the hash or id; undefined without a token. Throws `INVALID_API_KEY` for another token.
 */
export const createRouterAnswer = (deps: Dependencies): ((exchange: Exchange) => Promise<Answer>) | undefined => {
  if (deps.routerToken === '') return undefined
  const actors = new Map([[deps.routerToken, 'admin:router'] as const])
  const check = createTokenCheck(actors, () => performance.now(), "The router's token")
  return async (exchange) => {
    check(exchange.headers.authorization, () => deps.clients.find(exchange))
    const { kind, prefix, nonce } = readQuestion(await readJson(exchange), { allowTargets: [] })
    const found = await deps.findCredentials(kind, Buffer.from(prefix, 'hex'))
    const claims = found
      .slice(0, claimsMax)
      .map(({ name, isServed }) => claimOf(name, Buffer.from(nonce, 'hex'), isServed))
    return {
      status: 200,
      body: { data: { claims: claims.map(({ proof, isServed }) => ({ proof, is_served: isServed })) } },
    }
  }
}
