import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLocalEvents } from '#local/events.ts'
import { runLocal } from '#local/run-local.ts'

/** The lines printed by a start that ends at the search for its programs. */
const linesOf = async (t: Test, env: Readonly<Record<string, string>>) => {
  const root = await mkdtemp(join(tmpdir(), 'run-local-'))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const lines: string[] = []
  const deps = { env, root, stop: new AbortController().signal, started: () => {} }
  const environment = { SHUTTERFLEET_CHROMIUM: join(root, 'missing'), SHUTTERFLEET_DATA: join(root, 'data') }
  const running = runLocal({
    ...deps,
    env: { ...environment, ...env },
    events: createLocalEvents((line) => lines.push(line)),
  })
  await t.rejects(running, { code: 'CONFIGURATION' })
  return lines
}

t.test('run local: warns that with an external NATS server workers get its user', async (t) => {
  const lines = await linesOf(t, { SHUTTERFLEET_NATS_URL: 'nats://all:secret@127.0.0.1:1' })
  t.match(lines.join(), /^warning: SHUTTERFLEET_NATS_URL: .*may do everything$/)
  t.notMatch(lines.join(), /secret/)
  t.strictSame(await linesOf(t, {}), [])
})
