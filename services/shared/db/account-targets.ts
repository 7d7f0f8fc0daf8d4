import { createHash } from 'node:crypto'
import { AppError, type FieldErrors } from '#shared/errors/app-error.ts'
import { listsCharactersMax, parseTargetEntries, targetTexts, type TargetTexts } from '#shared/policy/target-lists.ts'
import { findAccount } from './accounts.ts'
import { type Actor, recordChange } from './audit.ts'
import type { Database } from './connection.ts'

const empty: TargetTexts = { allow: [], deny: [] }

const messageCharactersMax = 1000

/** Brings lists of targets to their normal form. Throws `VALIDATION_ERROR` that names each wrong entry, such as `deny.3`. */
const normalTargets = (input: TargetTexts): TargetTexts => {
  const errors: Record<string, string[]> = {}
  const parse = (name: keyof TargetTexts) => {
    const parsed = parseTargetEntries(input[name])
    if (parsed.ok) return parsed.entries
    for (const { index, problem } of parsed.problems)
      errors[index === undefined ? name : `${name}.${index}`] = [problem]
    return []
  }
  const texts = targetTexts({ allow: parse('allow'), deny: parse('deny') })
  const characters = [...texts.allow, ...texts.deny].join('').length
  if (characters > listsCharactersMax) {
    errors['deny'] = [`and allow must have at most ${listsCharactersMax} characters together, and have ${characters}`]
  }
  if (Object.keys(errors).length === 0) return texts
  const publicMessage = Object.entries(errors).map(([field, problems]) => `${field} ${problems.join(', ')}`)
  throw new AppError('VALIDATION_ERROR', {
    publicMessage: publicMessage.join('; ').slice(0, messageCharactersMax),
    details: errors satisfies FieldErrors,
  })
}

/** Returns the lists of targets of an account. Throws `NOT_FOUND`. */
export const readTargets = (database: Database, accountId: string): Promise<TargetTexts> =>
  database.entities(async (entities) => (await findAccount(entities, accountId)).targets ?? empty)

/**
 * Replaces the lists of targets of an account, for captures that are accepted from then on. Returns their normal form. Throws
 * `NOT_FOUND`, or `VALIDATION_ERROR` as `normalTargets`.
 */
export const setTargets = async (
  database: Database,
  accountId: string,
  input: TargetTexts,
  actor: Actor,
): Promise<TargetTexts> => {
  const targets = normalTargets(input)
  const isEmpty = targets.allow.length + targets.deny.length === 0
  await database.entities(async (entities) => {
    const account = await findAccount(entities, accountId, 'lock')
    account.targets = isEmpty ? null : targets
    account.targetsSha256 = isEmpty ? null : createHash('sha256').update(JSON.stringify(targets)).digest()
    recordChange(entities, { actor, action: 'account.set_targets', target: account.id, detail: targets })
  })
  return targets
}
