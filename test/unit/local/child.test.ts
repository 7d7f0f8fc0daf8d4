import { join } from 'node:path'
import t from 'tap'
import { startError } from '#local/child.ts'

const errorFor = (log: string) => startError('PostgreSQL did not start', join(t.testdir({ log }), 'log'))

t.test('child: the error of a start has the last lines of the log', async (t) => {
  const { message } = await errorFor(Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n'))
  t.match(message, /^PostgreSQL did not start; .*log ends with:\nline 8\n[^]*line 19$/)
})

t.test('child: a full disk in the log is named, with what to do', async (t) => {
  for (const line of [
    'initdb: error: could not write to file "pg_wal/xlogtemp": No space left on device',
    "Error: ENOSPC: no space left on device, write '/x'",
    'nats-server: Disk quota exceeded',
  ]) {
    const { message } = await errorFor(`starting\n${line}\n`)
    t.match(message, /^PostgreSQL did not start: the disk is full; free some space, or .*--data; 'df -h'/, line)
  }
})
