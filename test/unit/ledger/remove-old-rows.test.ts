import t from 'tap'
import { removeOldRows } from '#ledger/remove-old-rows.ts'
import { createSqlDouble } from '#test/helpers/sql-double.ts'

t.test('remove old rows: a table whose rows cannot be removed does not keep those of others', async (t) => {
  const reached: string[] = []
  const database = createSqlDouble(async (text) => {
    const removal = /remove_\w+/.exec(text)?.[0]
    if (removal === undefined) throw new Error('refused')
    reached.push(removal)
    return [{ lookedAt: 0, removed: 0 }]
  })
  const events = { rowsRemoved: () => {} }
  await t.rejects(removeOldRows({ database, events, rowRetentionDays: 90 }), { message: 'refused' })
  t.same(reached, ['remove_ended', 'remove_empty_batches'])
})
