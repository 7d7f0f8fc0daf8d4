import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { createBatchedLoader } from './batched-loader.ts'

/** Minimum between two reads, so that guesses cost the database little. */
const gapMs = 50

const statement = readStatement(import.meta.dirname, 'sql/known-credentials.sql')

/** A credential of an account here, by its hash or the bytes of its id; `isServed`: the account is not leaving, and has arrived. */
type KnownCredential = { readonly name: Buffer; readonly isServed: boolean }

/** The credentials of a kind (key, session, sign_in, link or image) whose hash or id begins with a prefix of 8 bytes: none or one, or a few captures of one millisecond. */
export type FindCredentials = (kind: string, prefix: Buffer) => Promise<readonly KnownCredential[]>

type Row = { readonly id: string; readonly names: readonly { readonly name: string; readonly isServed: boolean }[] }

/** Creates the lookup; concurrent ones are batched into one read. What is no longer valid is known too: it is refused here, and says why. */
export const createCredentialLookup = (database: Sql): FindCredentials => {
  const load = createBatchedLoader((ids: readonly string[]) => {
    const questions = ids.map((id) => id.split(' '))
    const [kinds, prefixes] = [
      questions.map(([kind]) => kind),
      questions.map(([, hex = '']) => Buffer.from(hex, 'hex')),
    ]
    return database.query<Row>(statement, [kinds, prefixes])
  }, gapMs)
  return async (kind, prefix) =>
    ((await load(`${kind} ${prefix.toString('hex')}`))?.names ?? []).map(({ name, isServed }) => ({
      name: Buffer.from(name, 'hex'),
      isServed,
    }))
}
