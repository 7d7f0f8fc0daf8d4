import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const logger = resolve(import.meta.dirname, '../../../../services/shared/telemetry/logger.ts')

t.test('logger: lines are JSON with whole milliseconds, and errors keep their cause', async (t) => {
  const script = `
    const { createLogger } = await import(${JSON.stringify(logger)})
    const log = createLogger({ service: 'test', level: 'info' })
    const err = new Error('outer', { cause: new Error('inner') })
    log.info({ ageMs: 12.6, ms: 0.2, share: 0.5, forms: 1.5, err }, 'a line')
    log.debug('not at this level')
    log.warn('without fields')`
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  t.match(lines, [
    { service: 'test', level: 'info', ageMs: 13, ms: 0, share: 0.5, forms: 1.5, msg: 'a line' },
    { level: 'warn', msg: 'without fields', time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ },
  ])
  t.equal(lines.length, 2)
  t.match(lines[0], { err: { message: /outer.*inner/, stack: /caused by: Error: inner/ } })
})
