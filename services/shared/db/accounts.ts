import { randomUUID } from 'node:crypto'
import { LockMode, type SqlEntityManager } from '@mikro-orm/postgresql'
import { AppError } from '#shared/errors/app-error.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database } from './connection.ts'
import { Account } from './entities/account.ts'
import { AccountMeter } from './entities/account-meter.ts'
import { ApiKey } from './entities/api-key.ts'
import { AuditEntry } from './entities/audit-entry.ts'
import { Plan } from './entities/plan.ts'
import { isId } from './is-id.ts'

/** An account as JSON of the administration and the command line. `plan` is the plan's slug; times are ISO 8601 UTC. */
export type AccountJson = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly plan: string
  readonly created_at: string
  /** When the account was disabled, which makes its keys invalid; null if it is enabled. */
  readonly disabled_at: string | null
  /** When its erasure was ordered; null if it was not. */
  readonly erasing_at: string | null
  /** Since when it is being moved to another installation, or was; null if it is not. */
  readonly moving_at: string | null
}

/** One `@` with text on either side; only sending mail can verify an address. */
const emailForm = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,255}$/u

const checkEmail = (email: string): void => {
  if (emailForm.test(email)) return
  const fault = 'must be an e-mail address such as name@example.com'
  throw new AppError('VALIDATION_ERROR', { publicMessage: `email ${fault}`, details: { email: [fault] } })
}

const findPlan = async (entities: SqlEntityManager, slug: string) => {
  const plan = await entities.findOne(Plan, { slug })
  if (plan) return plan
  const known = await entities.find(Plan, {}, { orderBy: { position: 'asc' } })
  const fault = `is not a plan in force (${known.map((each) => each.slug).join(', ') || 'there are none'})`
  throw new AppError('VALIDATION_ERROR', { publicMessage: `plan '${slug}' ${fault}`, details: { plan: [fault] } })
}

/**
 * Finds an account; `lock`, for a change to it, locks its row until the transaction ends. Throws `NOT_FOUND`, and `SERVICE_UNAVAILABLE`
 * if changes are held up because it is being moved.
 */
export const findAccount = async (entities: SqlEntityManager, id: string, lock?: 'lock') => {
  const lockMode = lock ? LockMode.PESSIMISTIC_WRITE : LockMode.NONE
  const account = isId(id) ? await entities.findOne(Account, { id }, { lockMode }) : null
  if (!account) throw new AppError('NOT_FOUND', { publicMessage: `there is no account ${id}` })
  if (lock && account.movingAt)
    throw new AppError('SERVICE_UNAVAILABLE', {
      publicMessage: `account ${id} is being moved: retry afterwards; if the move was killed, repeat 'account move', or end it with --cancel`,
    })
  return account
}

type Row = Pick<AccountJson, 'id' | 'name' | 'email'> & {
  readonly plan: { readonly slug: string }
  readonly createdAt: Date
  readonly disabledAt?: Date | null | undefined
  readonly erasingAt?: Date | null | undefined
  readonly movingAt?: Date | null | undefined
}

const toJson = (account: Row): AccountJson => ({
  id: account.id,
  name: account.name,
  email: account.email,
  plan: account.plan.slug,
  created_at: account.createdAt.toISOString(),
  disabled_at: account.disabledAt?.toISOString() ?? null,
  erasing_at: account.erasingAt?.toISOString() ?? null,
  moving_at: account.movingAt?.toISOString() ?? null,
})

/** Creates an account on a plan in force; throws `VALIDATION_ERROR` for an unknown plan or malformed e-mail address. */
export const createAccount = (
  database: Database,
  input: { readonly name: string; readonly email: string; readonly plan: string },
  actor: Actor = 'system',
): Promise<AccountJson> =>
  database.entities(async (entities) => {
    checkEmail(input.email)
    const plan = await findPlan(entities, input.plan)
    const account = { ...input, plan, id: randomUUID(), createdAt: new Date() }
    entities.create(Account, account)
    entities.create(AccountMeter, { account: account.id })
    recordChange(entities, { actor, action: 'account.create', target: account.id, detail: { plan: input.plan } })
    await entities.flush()
    return toJson(account)
  })

/** Accounts whose name or email contains the text, in any case, or whose id it is. */
const matching = (search: string) => {
  const pattern = `%${search.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`
  return [{ name: { $ilike: pattern } }, { email: { $ilike: pattern } }, ...(isId(search) ? [{ id: search }] : [])]
}

/**
 * Lists accounts, oldest first; with `page` at most `limit`, created later than account `after`, that match `search`. Throws
 * `NOT_FOUND`.
 */
export const listAccounts = (
  database: Database,
  page?: { readonly limit: number; readonly after?: string | undefined; readonly search?: string | undefined },
): Promise<AccountJson[]> =>
  database.entities(async (entities) => {
    const last = page?.after === undefined ? undefined : await findAccount(entities, page.after)
    const later = last && [{ createdAt: { $gt: last.createdAt } }, { createdAt: last.createdAt, id: { $gt: last.id } }]
    const found = page?.search === undefined ? undefined : matching(page.search)
    const conditions = [later, found].flatMap((alternatives) => (alternatives ? [{ $or: alternatives }] : []))
    const accounts = await entities.find(Account, conditions.length === 0 ? {} : { $and: conditions }, {
      orderBy: { createdAt: 'asc', id: 'asc' },
      ...(page && { limit: page.limit }),
    })
    return accounts.map(toJson)
  })

/** Returns one account. Throws `NOT_FOUND`. */
export const showAccount = (database: Database, id: string): Promise<AccountJson> =>
  database.entities(async (entities) => toJson(await findAccount(entities, id)))

/** Changes an account's plan, effective at once. Throws `NOT_FOUND`, or `VALIDATION_ERROR` if there is no such plan. */
export const setPlan = (database: Database, accountId: string, slug: string, actor: Actor = 'system'): Promise<void> =>
  database.entities(async (entities) => {
    const account = await findAccount(entities, accountId, 'lock')
    const detail = { from: account.plan.slug, to: slug }
    account.plan = await findPlan(entities, slug)
    recordChange(entities, { actor, action: 'account.set_plan', target: account.id, detail })
  })

/**
 * Disables or enables an account, effective on every replica for requests that arrive after this returns. Captures that
 * were accepted before continue. Idempotent. Throws `NOT_FOUND`, or `VALIDATION_ERROR` for one that is being erased.
 */
export const setDisabled = (
  database: Database,
  accountId: string,
  disabled: boolean,
  actor: Actor = 'system',
): Promise<void> =>
  database.entities(async (entities) => {
    const account = await findAccount(entities, accountId, 'lock')
    if ((account.disabledAt != null) === disabled) return
    if (account.erasingAt) {
      const fault = 'cannot be changed: the account is being erased'
      throw new AppError('VALIDATION_ERROR', { publicMessage: `disabled ${fault}`, details: { disabled: [fault] } })
    }
    account.disabledAt = disabled ? new Date() : null
    recordChange(entities, { actor, action: disabled ? 'account.disable' : 'account.enable', target: account.id })
  })

/**
 * Orders the erasure of an account with its keys, captures, images and counts, and disables it, so that no rows are added
 * meanwhile. The ledger carries it out; the account is gone once it has. Idempotent. Throws `NOT_FOUND`.
 */
export const orderErasure = (database: Database, accountId: string, actor: Actor): Promise<AccountJson> =>
  database.entities(async (entities) => {
    const account = await findAccount(entities, accountId, 'lock')
    if (!account.erasingAt) {
      account.erasingAt = new Date()
      account.disabledAt ??= account.erasingAt
      recordChange(entities, { actor, action: 'account.erase', target: account.id })
    }
    return toJson(account)
  })

/**
 * Deletes an account with its keys, and what the audit log says of them but actor, action, target and time. Resolves to
 * whether it was there: another ledger may have been faster.
 */
export const finishErasure = (database: Database, accountId: string): Promise<boolean> =>
  database.entities(async (entities) => {
    const account = await entities.findOne(Account, { id: accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (!account) return false
    const keys = await entities.find(ApiKey, { account: accountId })
    const targets = [accountId, ...keys.map(({ id }) => id)]
    await entities.nativeUpdate(AuditEntry, { target: targets }, { detail: {} })
    entities.remove(account)
    recordChange(entities, { actor: 'system', action: 'account.erased', target: accountId })
    return true
  })
