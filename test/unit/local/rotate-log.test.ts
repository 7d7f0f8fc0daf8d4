import { existsSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { rotateLog } from '#local/rotate-log.ts'

t.test('rotate log: a log above its limit is copied to .1 and truncated, and its writer continues', async (t) => {
  const path = join(t.testdir(), 'x.log')
  const writer = openSync(path, 'a')
  writeSync(writer, 'first')
  await rotateLog(path, 5)
  t.equal(readFileSync(path, 'utf8'), 'first', 'it is not above the limit')
  writeSync(writer, ' line')
  await rotateLog(path, 5)
  writeSync(writer, 'next')
  t.strictSame(
    [`${path}.1`, path].map((each) => readFileSync(each, 'utf8')),
    ['first line', 'next'],
  )
})

t.test('rotate log: a log may grow to 16 MiB', async (t) => {
  const path = join(t.testdir(), 'x.log')
  writeFileSync(path, '')
  truncateSync(path, 16 * 1024 ** 2)
  await rotateLog(path)
  t.notOk(existsSync(`${path}.1`), 'at the limit')
  truncateSync(path, 16 * 1024 ** 2 + 1)
  await rotateLog(path)
  t.ok(existsSync(`${path}.1`), 'above it')
})
