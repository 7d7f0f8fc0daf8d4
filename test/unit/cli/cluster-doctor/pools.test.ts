import t from 'tap'
import { quantity } from '#cli/cluster-doctor/pools.ts'

t.test('quantity: parses Kubernetes quantities', async (t) => {
  for (const [text, number] of [
    ['10', 10],
    ['0', 0],
    ['500m', 0.5],
    ['2k', 2000],
    ['2Ki', 2048],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['3T', 3e12],
  ] as const) {
    t.equal(quantity(text), number, text)
  }
  for (const text of ['', 'many', '5x', 'Gi']) t.ok(Number.isNaN(quantity(text)), text)
})
