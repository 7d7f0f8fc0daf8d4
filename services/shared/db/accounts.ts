import { randomUUID } from 'node:crypto'
import { LockMode, type SqlEntityManager } from '@mikro-orm/postgresql'
import { AppError } from '#shared/errors/app-error.ts'
import type { Database } from './connection.ts'
import { Account } from './entities/account.ts'
import { AccountMeter } from './entities/meters.ts'
import { Plan } from './entities/plan.ts'

/** An account as people see it. `plan` is the plan's slug; times are ISO 8601 UTC. */
export type AccountView = {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly plan: string
  readonly createdAt: string
}

/** Whether a text may be an id; anything else PostgreSQL would refuse. */
export const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

const findPlan = async (entities: SqlEntityManager, slug: string) => {
  const plan = await entities.findOne(Plan, { slug })
  if (plan) return plan
  const known = await entities.find(Plan, {}, { orderBy: { position: 'asc' } })
  const fault = `is not a plan in force (${known.map((each) => each.slug).join(', ') || 'there are none'})`
  throw new AppError('VALIDATION_ERROR', { publicMessage: `plan '${slug}' ${fault}`, details: { plan: [fault] } })
}

/** Finds an account; with `lock` nobody else changes it until the transaction ends. Throws `NOT_FOUND`. */
export const findAccount = async (entities: SqlEntityManager, id: string, lock?: 'lock') => {
  const lockMode = lock ? LockMode.PESSIMISTIC_WRITE : LockMode.NONE
  const account = isId(id) ? await entities.findOne(Account, { id }, { lockMode }) : null
  if (!account) throw new AppError('NOT_FOUND', { publicMessage: `there is no account ${id}` })
  return account
}

/** Makes an account on a plan in force; throws `VALIDATION_ERROR` where there is no such plan. */
export const createAccount = (
  database: Database,
  wanted: { readonly name: string; readonly email: string; readonly plan: string },
): Promise<AccountView> =>
  database.entities(async (entities) => {
    const plan = await findPlan(entities, wanted.plan)
    const account = { ...wanted, id: randomUUID(), createdAt: new Date() }
    entities.create(Account, { ...account, plan })
    entities.create(AccountMeter, { account: account.id })
    await entities.flush()
    return { ...account, createdAt: account.createdAt.toISOString() }
  })

/** All accounts, the oldest first. */
export const listAccounts = (database: Database): Promise<AccountView[]> =>
  database.entities(async (entities) => {
    const accounts = await entities.find(Account, {}, { orderBy: { createdAt: 'asc', id: 'asc' } })
    return accounts.map(({ id, name, email, plan, createdAt }) => ({
      id,
      name,
      email,
      plan: plan.slug,
      createdAt: createdAt.toISOString(),
    }))
  })

/** Puts an account on another plan at once. Throws `NOT_FOUND`, or `VALIDATION_ERROR` where there is no such plan. */
export const setPlan = (database: Database, accountId: string, slug: string): Promise<void> =>
  database.entities(async (entities) => {
    const account = await findAccount(entities, accountId, 'lock')
    account.plan = await findPlan(entities, slug)
  })
