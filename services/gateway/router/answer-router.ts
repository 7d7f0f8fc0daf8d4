import { enumSchema, object, optional, text } from '#shared/schema/fields.ts'
import { createTokenCheck } from '#gateway/admin/admin-tokens.ts'
import type { KnowsCredential } from '#gateway/db/known-credentials.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import type { Clients } from '#gateway/http/identification/clients.ts'
import type { HashKey } from '#gateway/http/identification/identify.ts'
import { createBodyReader, readJson } from '#gateway/http/input.ts'
import { type Links, readLink, verifyLink } from '#gateway/links/links.ts'
import { type Credential, credentialKinds, linkQueryMax } from './credential.ts'

const readCredential = createBodyReader(
  object({
    kind: enumSchema(credentialKinds),
    value: text(undefined, { minLength: 1, maxLength: 200 }),
    ...optional({ query: text(undefined, { maxLength: linkQueryMax }) }),
  }),
)

type Dependencies = {
  /** Empty: no router may ask. */
  readonly routerToken: string
  readonly knowsCredential: KnowsCredential
  readonly hashKey: HashKey
  readonly links: Pick<Links, 'keys'>
  readonly clients: Pick<Clients, 'find'>
  readonly now: () => Date
}

/** A link that was signed elsewhere is not of this cell; one that has expired is refused without a read. */
const isLinkKnown = async (deps: Dependencies, { value, query = '' }: Credential): Promise<boolean> => {
  const link = readLink(query)
  const verdict = link ? verifyLink(deps.links.keys, value, link, deps.now()) : 'forged'
  return verdict === 'good' ? deps.knowsCredential(value) : verdict === 'expired'
}

const isKnown = async (deps: Dependencies, credential: Credential): Promise<boolean> => {
  const { kind, value } = credential
  if (kind === 'link') return deps.knowsCredential(value)
  if (kind === 'image') return isLinkKnown(deps, credential)
  return deps.knowsCredential(deps.hashKey(value))
}

/**
 * Creates the operation by which a router asks whether an account of this cell has a credential, valid or not; undefined without a
 * token. Throws `INVALID_API_KEY` for another token.
 */
export const createRouterAnswer = (deps: Dependencies): ((exchange: Exchange) => Promise<Answer>) | undefined => {
  if (deps.routerToken === '') return undefined
  const actors = new Map([[deps.routerToken, 'admin:router'] as const])
  const check = createTokenCheck(actors, () => performance.now(), "The router's token")
  return async (exchange) => {
    check(exchange.headers.authorization, () => deps.clients.find(exchange))
    const credential = readCredential(await readJson(exchange), { allowTargets: [] })
    return { status: 200, body: { data: { is_known: await isKnown(deps, credential) } } }
  }
}
