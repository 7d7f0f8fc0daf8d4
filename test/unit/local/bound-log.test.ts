import { openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { boundLog } from '#local/bound-log.ts'

t.test('bound log: moves a too large log to one backup, and its writer continues in the emptied file', async (t) => {
  const path = join(t.testdir(), 'x.log')
  const writer = openSync(path, 'a')
  writeSync(writer, 'first')
  await boundLog(path, 5)
  t.equal(readFileSync(path, 'utf8'), 'first', 'the log is not above its bound')
  writeSync(writer, ' line')
  await boundLog(path, 5)
  writeSync(writer, 'next')
  t.strictSame(
    [`${path}.1`, path].map((each) => readFileSync(each, 'utf8')),
    ['first line', 'next'],
  )
})
