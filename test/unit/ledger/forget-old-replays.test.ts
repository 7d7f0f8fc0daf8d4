import t from 'tap'
import { forgetOldReplays } from '#ledger/forget-old-replays.ts'

const turnOver = async (old: number) => {
  let left = old
  let statements = 0
  const query = async <Row>(_text: string, [limit]: readonly unknown[] = []) => {
    statements += 1
    const taken = Math.min(left, Number(limit))
    left -= taken
    return Array.from<unknown, Row>({ length: taken }, () => ({}) as Row)
  }
  await forgetOldReplays({ database: { query } as unknown as Parameters<typeof forgetOldReplays>[0]['database'] })
  return { left, statements }
}

t.test('one turn forgets what is old in batches, and no more than its bound', async (t) => {
  t.same(await turnOver(0), { left: 0, statements: 1 })
  t.same(await turnOver(2500), { left: 0, statements: 3 })
  t.same(await turnOver(150_000), { left: 50_000, statements: 100 })
})
