import { createHash } from 'node:crypto'
import type { SqlEntityManager } from '@mikro-orm/postgresql'
import { collectErrors } from '#shared/capture/validation-errors.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { listsCharactersMax, parseTargetEntries, targetTexts, type TargetTexts } from '#shared/policy/target-lists.ts'
import { findAccount } from './accounts.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database } from './connection.ts'

const empty: TargetTexts = { allow: [], deny: [] }

const messageCharactersMax = 1000
/** Most added and most removed entries of a list that the audit log names. */
const namedMax = 3

/** Brings lists of targets to their normal form. Throws `VALIDATION_ERROR` that names each wrong entry, such as `deny.3`. */
const normalTargets = (input: TargetTexts): TargetTexts => {
  const { report, all } = collectErrors()
  const parse = (name: keyof TargetTexts) => {
    const parsed = parseTargetEntries(input[name])
    if (parsed.ok) return parsed.entries
    for (const { index, problem } of parsed.problems) report(index === undefined ? name : `${name}.${index}`, problem)
    return []
  }
  const texts = targetTexts({ allow: parse('allow'), deny: parse('deny') })
  const characters = [...texts.allow, ...texts.deny].join('').length
  if (characters > listsCharactersMax) {
    report('deny', `must have at most ${listsCharactersMax} characters together with allow, not ${characters}`)
  }
  const errors = all()
  if (!errors) return texts
  const publicMessage = Object.entries(errors).map(([field, problems]) => `${field} ${problems.join(', ')}`)
  throw new AppError('VALIDATION_ERROR', {
    publicMessage: publicMessage.join('; ').slice(0, messageCharactersMax),
    details: errors,
  })
}

const findWithTargets = async (entities: SqlEntityManager, accountId: string, lock?: 'lock') => {
  const account = await findAccount(entities, accountId, lock)
  await entities.populate(account, ['targets'])
  return account
}

/** What a change did to a list. Bounded, because an account may change its lists at any time, and audit entries are not deleted. */
const summaryOf = (before: readonly string[], after: readonly string[]) => {
  const added = after.filter((entry) => !before.includes(entry))
  const removed = before.filter((entry) => !after.includes(entry))
  return {
    entries: after.length,
    added: added.length,
    removed: removed.length,
    first_added: added.slice(0, namedMax),
    first_removed: removed.slice(0, namedMax),
  }
}

/** The lists of targets of accounts. */
export type TargetStore = ReturnType<typeof targetStoreIn>

/** See `TargetStore`. */
export const targetStoreIn = (database: Pick<Database, 'entities'>) => ({
  /** Returns the lists of an account, in normal form. Throws `NOT_FOUND`. */
  read: (accountId: string): Promise<TargetTexts> =>
    database.entities(async (entities) => (await findWithTargets(entities, accountId)).targets ?? empty),
  /**
   * Replaces the lists of an account that `input` has, for captures that are accepted from then on. Returns both in normal form.
   * Stores and records nothing if they are as before. Throws `NOT_FOUND`, or `VALIDATION_ERROR` that names each wrong entry, such
   * as `deny.3`.
   */
  replace: (accountId: string, input: Partial<TargetTexts>, actor: Actor): Promise<TargetTexts> =>
    database.entities(async (entities) => {
      const account = await findWithTargets(entities, accountId, 'lock')
      const before = account.targets ?? empty
      const targets = normalTargets({ ...before, ...input })
      const text = JSON.stringify(targets)
      if (text === JSON.stringify(before)) return targets
      const isEmpty = targets.allow.length + targets.deny.length === 0
      account.targets = isEmpty ? null : targets
      account.targetsSha256 = isEmpty ? null : createHash('sha256').update(text).digest()
      const detail = { allow: summaryOf(before.allow, targets.allow), deny: summaryOf(before.deny, targets.deny) }
      recordChange(entities, { actor, action: 'account.set_targets', target: account.id, detail })
      return targets
    }),
})
