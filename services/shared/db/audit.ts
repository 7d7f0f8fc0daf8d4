import { randomUUID } from 'node:crypto'
import type { SqlEntityManager } from '@mikro-orm/postgresql'
import { AppError } from '#shared/errors/app-error.ts'
import type { Database } from './connection.ts'
import { isId } from './is-id.ts'
import { AuditEntry } from './entities/audit-entry.ts'

/**
 * Who made a change: the software itself, somebody who could not sign in, a user of the command line, the holder of an admin token, with the token's name if it
 * has one, an operator in the console, with the id of the session, or the account itself, with the id of its key or console session.
 */
export type Actor =
  | 'system'
  | 'unknown'
  | 'command line'
  | 'admin'
  | `admin:${string}`
  | `operator:${string}`
  | `key:${string}`
  | `session:${string}`

/** Whether somebody acts who is signed in to the console, as an operator or for an account. */
export const isOfSession = (actor: Actor): boolean => actor.startsWith('operator:') || actor.startsWith('session:')

type Action =
  | 'account.create'
  | 'account.set_plan'
  | 'account.disable'
  | 'account.enable'
  | 'account.set_targets'
  | 'account.erase'
  | 'account.erased'
  | 'account.view'
  | 'account.leave'
  | 'account.move'
  | 'account.stay'
  | 'account.arrive'
  | 'account.move_out'
  | 'key.create'
  | 'key.set_expiry'
  | 'key.set_domains'
  | 'key.revoke'
  | 'key.rotate_link_secret'
  | 'member.add'
  | 'member.set_role'
  | 'member.remove'
  | 'sign_in_link.create'
  | 'session.begin'
  | 'session.switch'
  | 'session.end'
  | 'session.fail'
  | 'queue.cancel'
  | 'queue.requeue'
  | 'meters.recount'
  | 'maintenance.on'
  | 'maintenance.off'
  | 'pool.pause'
  | 'pool.resume'

/** A change to record. `target` is an id; `detail` holds no secret. */
type Change = {
  readonly actor: Actor
  readonly action: Action
  readonly target: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Public view of a recorded change. `at` is ISO 8601 UTC. */
type AuditView = Required<Change> & { readonly id: string; readonly at: string }

/** Records a change in the transaction that makes it, so that no change goes unrecorded. */
export const recordChange = (entities: SqlEntityManager, { detail = {}, ...change }: Change): void => {
  entities.create(AuditEntry, { id: randomUUID(), at: new Date(), detail, ...change })
}

/** Records a change that was already made, without the entity manager. */
export const noteChange = (database: Pick<Database, 'entities'>, change: Change): Promise<void> =>
  database.entities(async (entities) => recordChange(entities, change))

const findEntry = async (entities: SqlEntityManager, id: string) => {
  const entry = isId(id) ? await entities.findOne(AuditEntry, { id }) : null
  if (!entry) throw new AppError('NOT_FOUND', { publicMessage: `there is no recorded change ${id}` })
  return entry
}

/** Which recorded changes to list: of an actor, an action, a target; all that are undefined match. */
type ChangeFilter = Readonly<Partial<Record<'actor' | 'action' | 'target', string | undefined>>>

/** Lists at most `limit` recorded changes that match, latest first; with `before` only those older than it. Throws `NOT_FOUND`. */
export const listChanges = (
  database: Database,
  { limit, before, ...filter }: ChangeFilter & { readonly limit: number; readonly before?: string | undefined },
): Promise<AuditView[]> =>
  database.entities(async (entities) => {
    const next = before === undefined ? undefined : await findEntry(entities, before)
    const earlier = next && [{ at: { $lt: next.at } }, { at: next.at, id: { $lt: next.id } }]
    const matching = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
    const found = await entities.find(AuditEntry, earlier ? { ...matching, $or: earlier } : matching, {
      orderBy: { at: 'desc', id: 'desc' },
      limit,
    })
    return found.map((entry) => ({
      id: entry.id,
      at: entry.at.toISOString(),
      actor: entry.actor as Actor,
      action: entry.action as Action,
      target: entry.target,
      detail: entry.detail as Record<string, unknown>,
    }))
  })
