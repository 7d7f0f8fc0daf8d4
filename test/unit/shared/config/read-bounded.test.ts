import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { readBounded } from '#shared/config/read-bounded.ts'

t.test('read bounded: reads up to its bound', async (t) => {
  const folder = t.testdir({ file: 'é123' })
  t.equal(await readBounded(join(folder, 'file'), 5), 'é123')
  await t.rejects(readBounded(join(folder, 'file'), 4), { message: /file is longer than 4 bytes/ })
  await t.rejects(readBounded('/dev/zero', 4), { message: /longer/ })
  await t.rejects(readBounded(join(folder, 'none'), 4), { code: 'ENOENT' })
})

t.test('read bounded: does not wait for the writer of a pipe', { timeout: 5000 }, async (t) => {
  const path = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [path])
  t.equal(await readBounded(path, 4), '')
})
