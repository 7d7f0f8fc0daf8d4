import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { readBounded } from '#shared/config/read-bounded.ts'

t.test('read bounded: reads a file of at most so many bytes', async (t) => {
  const folder = t.testdir({ exact: 'äbc', long: 'äbcd', empty: '' })
  t.equal(await readBounded(join(folder, 'exact'), 4), 'äbc')
  t.equal(await readBounded(join(folder, 'empty'), 4), '')
  await t.rejects(readBounded(join(folder, 'long'), 4), { message: /long is longer than 4 bytes/ })
  await t.rejects(readBounded('/dev/zero', 100_000), { message: /longer than 100000 bytes/ })
  await t.rejects(readBounded(join(folder, 'missing'), 4), { code: 'ENOENT' })
  await t.rejects(readBounded(folder, 4), { code: 'EISDIR' })
})

t.test('read bounded: does not wait for the writer of a pipe', async (t) => {
  const path = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [path])
  t.equal(await readBounded(path, 4), '')
})
