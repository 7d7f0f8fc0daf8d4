import t from 'tap'
import { isAtLeast, parseVersion } from '#shared/policy/program-version.ts'

t.test('program version: reads the first version of a text, and compares major and minor', async (t) => {
  t.strictSame(parseVersion('postgres (PostgreSQL) 16.4 (Debian 16.4-1)'), [16, 4])
  t.strictSame(parseVersion('v2'), [2, 0])
  t.strictSame(parseVersion('none'), [])
  t.equal(isAtLeast([2, 12], [2, 12]), true)
  t.equal(isAtLeast([3, 0], [2, 12]), true)
  t.equal(isAtLeast([2, 9], [2, 12]), false)
  t.equal(isAtLeast([], [1, 0]), false)
})
