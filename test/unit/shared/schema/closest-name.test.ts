import t from 'tap'
import { closestName } from '#shared/schema/closest-name.ts'

const names = ['up', 'width', 'height', 'full_page']

t.test('closest name: recognises up to two changed letters, unless these are most of the name', async (t) => {
  for (const [typed, meant] of [
    ['wdith', 'width'],
    ['fullpage', 'full_page'],
    ['hight', 'height'],
    ['u', 'up'],
    ['down', undefined],
    ['on', undefined],
    [`width${'x'.repeat(100_000)}`, undefined],
  ] as const) {
    t.equal(closestName(names, typed), meant, typed.slice(0, 40))
  }
})
