import t from 'tap'
import { removeExpiredRows } from '#ledger/remove-expired-rows.ts'
import { createSqlDouble } from '#test/helpers/sql-double.ts'

/** Runs turns until there is nothing more, with this many expired rows in each table. */
const removeAll = async (old: Readonly<Record<string, number>>) => {
  const left = { ...old }
  const removed: [string, number][] = []
  const database = createSqlDouble(async (text, parameters) => {
    const table = /^delete from (\w+)/.exec(text)?.[1] ?? ''
    const taken = Math.min(left[table] ?? 0, Number(parameters.at(-1)))
    left[table] = (left[table] ?? 0) - taken
    return Array.from({ length: taken }, () => ({}))
  })
  const events = { rowsRemoved: (table: string, rows: number) => void removed.push([table, rows]) }
  let turns = 1
  while (await removeExpiredRows({ database, events })) turns += 1
  return { turns, removed }
}

t.test('remove expired rows: a turn deletes one batch of each table; a full batch means there is more', async (t) => {
  t.same(await removeAll({}), { turns: 1, removed: [] })
  t.same(await removeAll({ idempotency_key: 300, webhook_delivery: 20 }), {
    turns: 2,
    removed: [
      ['idempotency_key', 200],
      ['webhook_delivery', 20],
      ['idempotency_key', 100],
    ],
  })
  t.equal((await removeAll({ webhook_delivery: 500 })).turns, 3)
})
