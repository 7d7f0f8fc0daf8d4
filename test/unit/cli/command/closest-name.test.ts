import t from 'tap'
import { closestName } from '#cli/command/closest-name.ts'

const names = ['up', 'down', 'capture', 'key create', 'key list']

t.test('closest name: recognises up to two changed letters, in one word or two', async (t) => {
  for (const [typed, meant] of [
    ['captrue https://example.com', 'capture'],
    ['dwon', 'down'],
    ['keys create --account x', 'key create'],
    ['kye list', 'key list'],
    ['restart', undefined],
    [`capture${'x'.repeat(100_000)}`, undefined],
  ] as const) {
    t.equal(closestName(names, typed.split(' ')), meant, typed.slice(0, 40))
  }
})
