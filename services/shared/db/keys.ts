import { randomInt, randomUUID } from 'node:crypto'
import { LockMode, type SqlEntityManager } from '@mikro-orm/postgresql'
import { AppError } from '#shared/errors/app-error.ts'
import { normalHost } from '#shared/policy/host.ts'
import { type Scope, scopes } from '#shared/policy/scopes.ts'
import { findAccount } from './accounts.ts'
import { type Actor, isOfSession, recordChange } from './audit.ts'
import type { Database } from './connection.ts'
import { ApiKey } from './entities/api-key.ts'
import { Plan } from './entities/plan.ts'
import { isId } from './is-id.ts'
import { createKeyHash } from './key-hash.ts'
import { confirmPepper } from './key-pepper.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const randomCharacters = 40
const prefixCharacters = 12
const maxDomains = 100

const newKey = (): string =>
  `sk_live_${Array.from({ length: randomCharacters }, () => alphabet[randomInt(alphabet.length)]).join('')}`

const normalDomain = (domain: string): string => {
  const wildcard = domain.startsWith('*.') ? '*.' : ''
  const host = normalHost(domain.slice(wildcard.length))
  if (host !== undefined && !host.includes('*')) return wildcard + host
  const fault = `'${domain}' is neither a host nor *.host`
  throw new AppError('VALIDATION_ERROR', { publicMessage: `domain ${fault}`, details: { domains: [fault] } })
}

const normalDomains = (requested: readonly string[]): string[] => {
  const domains = [...new Set(requested.map(normalDomain))]
  if (domains.length <= maxDomains) return domains
  const fault = `at most ${maxDomains} domains`
  throw new AppError('VALIDATION_ERROR', { publicMessage: fault, details: { domains: [fault] } })
}

/** The scopes in their order; all by default. Throws `VALIDATION_ERROR` for none, and for unknown ones. */
const normalScopes = (requested: readonly string[] = scopes): Scope[] => {
  const known = scopes.filter((scope) => requested.includes(scope))
  if (known.length > 0 && requested.every((scope) => known.some((each) => each === scope))) return known
  const fault = `must be one or more of ${scopes.join(', ')}`
  throw new AppError('VALIDATION_ERROR', { publicMessage: `scopes ${fault}`, details: { scopes: [fault] } })
}

const throwKeyLimit = (max: number): never => {
  const fault = `the plan allows ${max} API ${max === 1 ? 'key' : 'keys'}; revoke one first`
  throw new AppError('VALIDATION_ERROR', { publicMessage: fault, details: { account: [fault] } })
}

type KeyInput = {
  readonly accountId: string
  readonly name: string
  /** Hosts, or `*.host`, from whose pages the key may be used; empty: from anywhere. */
  readonly domains: readonly string[]
  /** What the key may do; absent: everything. */
  readonly scopes?: readonly string[] | undefined
  readonly expiresAt?: Date | undefined
  readonly pepper: string
  readonly actor?: Actor
}

/**
 * Creates a key and returns it, the only time that it is shown. Throws `NOT_FOUND` for an unknown account,
 * `VALIDATION_ERROR` for a malformed domain, an unknown scope, or if the plan allows no more keys (revoked and expired ones do not count),
 * `CONFIGURATION` if the database's keys are hashed with another pepper.
 */
export const createKey = async (
  database: Database,
  input: KeyInput,
): Promise<{ id: string; prefix: string; key: string }> => {
  await confirmPepper(database, input.pepper)
  return await database.entities(async (entities) => {
    const domains = normalDomains(input.domains)
    const keyScopes = normalScopes(input.scopes)
    const account = await findAccount(entities, input.accountId, 'lock')
    const { max_api_keys: max } = await entities.findOneOrFail(Plan, account.plan.slug)
    const usable = { revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: new Date() } }] }
    if (max != null && (await entities.count(ApiKey, { account, ...usable })) >= max) throwKeyLimit(max)
    const key = newKey()
    const id = randomUUID()
    const prefix = key.slice(0, prefixCharacters)
    const { name, expiresAt = null, pepper } = input
    const keyHash = createKeyHash(pepper)(key)
    const fields = { name, prefix, domains, scopes: keyScopes }
    entities.create(ApiKey, { ...fields, id, account, keyHash, expiresAt, createdAt: new Date() })
    const detail = { account: account.id, ...fields, expires_at: expiresAt }
    recordChange(entities, { actor: input.actor ?? 'system', action: 'key.create', target: id, detail })
    await entities.flush()
    return { id, prefix, key }
  })
}

const findKey = async (entities: SqlEntityManager, id: string) => {
  const key = isId(id) ? await entities.findOne(ApiKey, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null
  if (!key) throw new AppError('NOT_FOUND', { publicMessage: `there is no key ${id}` })
  return key
}

/** Throws as `findKey`, and `SERVICE_UNAVAILABLE` if changes of its account are held up. */
const findKeyToChange = async (entities: SqlEntityManager, id: string) => {
  const key = await findKey(entities, id)
  await findAccount(entities, key.account.id, 'lock')
  return key
}

/** A key as JSON of the administration and the command line: never the key itself. Times are ISO 8601 UTC or null. */
export type KeyJson = ReturnType<typeof toJson>

const toJson = (key: Awaited<ReturnType<typeof findKey>>) => ({
  id: key.id,
  name: key.name,
  /** The key's first characters. */
  prefix: key.prefix,
  domains: key.domains,
  scopes: key.scopes,
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  created_at: key.createdAt.toISOString(),
  /** To the minute. */
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
})

/** Lists an account's keys, revoked ones included, oldest first. Throws `NOT_FOUND` for an unknown account. */
export const listKeys = (database: Database, accountId: string) =>
  database.entities(async (entities) => {
    const account = await findAccount(entities, accountId)
    const keys = await entities.find(ApiKey, { account }, { orderBy: { createdAt: 'asc', id: 'asc' } })
    return keys.map(toJson)
  })

/** One key with its account's id. Throws `NOT_FOUND`. */
export const showKey = (database: Database, keyId: string) =>
  database.entities(async (entities) => {
    const key = await findKey(entities, keyId)
    return { ...toJson(key), account_id: key.account.id }
  })

/** Changes to a key. Absent: unchanged. */
type KeyChange = {
  readonly expiresAt?: Date | null | undefined
  readonly domains?: readonly string[] | undefined
}

type Restrictions = { readonly expiresAt: Date | null; readonly domains: readonly string[] }

const throwFieldError = (field: 'domains' | 'expires_at', fault: string): never => {
  throw new AppError('VALIDATION_ERROR', { publicMessage: `${field} ${fault}`, details: { [field]: [fault] } })
}

/** Whether every host that the domain allows is allowed by one of the others. */
const isWithin = (domain: string, others: readonly string[]): boolean =>
  others.some((each) => each === domain || (each.startsWith('*.') && domain.endsWith(each.slice(1))))

/** A stolen session of the console may not leave a credential behind that allows more, or longer, than before. */
const assertNarrower = (current: Restrictions, next: Restrictions): void => {
  const by = 'in the console: use the admin API or the command line'
  const isLater =
    current.expiresAt !== null && (next.expiresAt === null || next.expiresAt.getTime() > current.expiresAt.getTime())
  if (isLater) throwFieldError('expires_at', `cannot be later than ${current.expiresAt.toISOString()} ${by}`)
  const isWider =
    current.domains.length > 0 &&
    (next.domains.length === 0 || !next.domains.every((domain) => isWithin(domain, current.domains)))
  if (isWider) throwFieldError('domains', `cannot allow more than ${current.domains.join(', ')} ${by}`)
}

/**
 * Changes a key's expiry (null: never) and domains, effective at once on every replica. Throws `NOT_FOUND`, and
 * `VALIDATION_ERROR` for a malformed domain, for a key that has expired, which stays so, and for a session of the console that would
 * extend the key.
 */
export const changeKey = (
  database: Database,
  keyId: string,
  { expiresAt, domains }: KeyChange,
  actor: Actor = 'system',
): Promise<void> =>
  database.entities(async (entities) => {
    const key = await findKeyToChange(entities, keyId)
    const current = { expiresAt: key.expiresAt ?? null, domains: key.domains }
    if (current.expiresAt !== null && current.expiresAt <= new Date())
      throwFieldError('expires_at', `has passed, at ${current.expiresAt.toISOString()}: create another key`)
    const next = {
      expiresAt: expiresAt === undefined ? current.expiresAt : expiresAt,
      domains: domains === undefined ? current.domains : normalDomains(domains),
    }
    if (isOfSession(actor)) assertNarrower(current, next)
    if (expiresAt !== undefined) {
      key.expiresAt = expiresAt
      const detail = { expires_at: expiresAt }
      recordChange(entities, { actor, action: 'key.set_expiry', target: key.id, detail })
    }
    if (domains !== undefined) {
      key.domains = [...next.domains]
      const detail = { domains: key.domains }
      recordChange(entities, { actor, action: 'key.set_domains', target: key.id, detail })
    }
  })

/** Revokes a key; every replica rejects requests that arrive after this returns. Idempotent. Throws `NOT_FOUND`. */
export const revokeKey = (database: Database, keyId: string, actor: Actor = 'system'): Promise<void> =>
  database.entities(async (entities) => {
    const key = await findKeyToChange(entities, keyId)
    if (key.revokedAt != null) return
    key.revokedAt = new Date()
    recordChange(entities, { actor, action: 'key.revoke', target: key.id })
  })
