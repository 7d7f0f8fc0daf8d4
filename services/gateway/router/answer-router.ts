import { enumSchema, object, optional, text } from '#shared/schema/fields.ts'
import { createTokenCheck } from '#gateway/admin/admin-tokens.ts'
import type { KnowsCredential } from '#gateway/db/known-credentials.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import type { Clients } from '#gateway/http/identification/clients.ts'
import type { HashKey } from '#gateway/http/identification/identify.ts'
import { createBodyReader, readJson } from '#gateway/http/input.ts'
import { type Links, readLink, verifyLink } from '#gateway/links/links.ts'
import { type Credential, credentialKinds } from './credential.ts'

const charactersMax = 10_000
const kinds = Object.keys(credentialKinds) as Credential['kind'][]
const readCredential = createBodyReader(
  object({
    kind: enumSchema(kinds),
    value: text(undefined, { minLength: 1, maxLength: 200 }),
    ...optional({ query: text(undefined, { maxLength: charactersMax }) }),
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

/** A link that was signed elsewhere is not of this cell, even if it had a capture with that id: one that has moved. */
const isSigned = ({ links, now }: Dependencies, { value, query = '' }: Credential): boolean => {
  const link = readLink(query)
  return link !== undefined && verifyLink(links.keys, value, link, now()) !== 'forged'
}

const isKnown = async (deps: Dependencies, credential: Credential): Promise<boolean> => {
  const { kind, value } = credential
  if (kind === 'link') return deps.knowsCredential(value)
  if (kind === 'image') return isSigned(deps, credential) && deps.knowsCredential(value)
  return deps.knowsCredential(deps.hashKey(value))
}

/**
 * Creates the operation by which a router asks whether an account of this cell has a credential, valid or not; undefined without a
 * token. Throws `INVALID_API_KEY` for another token.
 */
export const createRouterAnswer = (deps: Dependencies): ((exchange: Exchange) => Promise<Answer>) | undefined => {
  if (deps.routerToken === '') return undefined
  const check = createTokenCheck(new Map([[deps.routerToken, 'admin:router']]), () => performance.now())
  return async (exchange) => {
    check(exchange.headers.authorization, () => deps.clients.find(exchange))
    const credential = readCredential(await readJson(exchange), { allowTargets: [] })
    return { status: 200, body: { data: { is_known: await isKnown(deps, credential) } } }
  }
}
