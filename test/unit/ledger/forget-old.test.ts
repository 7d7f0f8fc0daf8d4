import t from 'tap'
import { forgetOld } from '#ledger/forget-old.ts'

type Dependencies = Parameters<typeof forgetOld>[0]

/** Turns until there is nothing more, with so many rows that are old in each table. */
const forgetAll = async (old: Readonly<Record<string, number>>) => {
  const left = { ...old }
  const forgotten: [string, number][] = []
  const query = async (text: string, parameters: readonly unknown[] = []) => {
    const table = /^delete from (\w+)/.exec(text)?.[1] ?? ''
    const taken = Math.min(left[table] ?? 0, Number(parameters.at(-1)))
    left[table] = (left[table] ?? 0) - taken
    return Array.from({ length: taken }, () => ({}))
  }
  const rowsRemoved = (table: string, rows: number) => forgotten.push([table, rows])
  const dependencies = { database: { query }, events: { rowsRemoved } } as unknown as Dependencies
  let turns = 1
  while (await forgetOld(dependencies)) turns += 1
  return { turns, forgotten }
}

t.test('forget old: a turn forgets one batch of each table, and there is more while one of them is full', async (t) => {
  t.same(await forgetAll({}), { turns: 1, forgotten: [] })
  t.same(await forgetAll({ idempotency_key: 750, webhook_delivery: 20 }), {
    turns: 2,
    forgotten: [
      ['idempotency_key', 500],
      ['webhook_delivery', 20],
      ['idempotency_key', 250],
    ],
  })
  t.equal((await forgetAll({ webhook_delivery: 1250 })).turns, 3)
})
