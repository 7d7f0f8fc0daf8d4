import { randomUUID } from 'node:crypto'
import { createAccount } from '#shared/db/accounts.ts'
import type { OldRow } from './snapshot.ts'
import type { World } from './world.ts'

const rowsOfEach = 2
/** Days after which rows are removed one by one: the retention of rows, a partition's, and one more (services/ledger/remove-old-rows.ts). */
const [dueDays, youngDays] = [100, 96]

/** A record of a capture that ended days ago. It is not charged, so that no meter counts it. */
const insert = `
  insert into capture (id, account_id, part, pool, lane, options, token_hash, budget_ms, period, charge, retention_seconds, status,
                       error_code, created_at, completed_at)
  values ($1, $2, 'ended', 'standard', 'normal', '{}', '', 1, now(), 'free', 1, 'failed', 'TIMEOUT',
          now() - make_interval(days => $3), now() - make_interval(days => $3))`

/** Adds records that are due for removal, and others that are not yet. Runs of the same world find those of earlier ones. */
export const plantOldRows = async ({ database, planted }: World): Promise<void> => {
  const { id: account } = await createAccount(database, { name: 'old', email: 'old@example.com', plan: 'unlimited' })
  for (const days of [dueDays, youngDays]) {
    for (let n = 0; n < rowsOfEach; n += 1) {
      const id = randomUUID()
      await database.query(insert, [id, account, days])
      planted.push({ id, isDue: days === dueDays, plantedMs: performance.now() })
    }
  }
}

/** The rows that were planted, with whether they are there. */
export const readOldRows = async ({ database, planted }: World): Promise<OldRow[]> => {
  const ids = planted.map(({ id }) => id)
  const rows = await database.query<{ id: string }>('select id::text as id from capture where id = any ($1::uuid[])', [
    ids,
  ])
  const there = new Set(rows.map(({ id }) => id))
  return planted.map((row) => ({ ...row, isThere: there.has(row.id) }))
}
