import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { keepSending, watchAlerts } from '#test/helpers/watched-alerts.ts'

const program = resolve(import.meta.dirname, '../../bin/shutterfleet')

/** Creates another account without limits; returns its API key. */
const createTenant = async ({ dataDir }: System): Promise<string> => {
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(program, [...args, '--data', dataDir, '--json'])
    return JSON.parse(stdout) as Record<string, string>
  }
  const { id = '' } = await run(
    'account',
    'create',
    '--name',
    'noisy',
    '--email',
    'n@example.com',
    '--plan',
    'unlimited',
  )
  const { key = '' } = await run('key', 'create', '--account', id, '--name', 'noisy')
  return key
}

t.test('alerts: with a noisy tenant the pool is at its maximum, and captures of others do not wait', async (t) => {
  await using site = await listening(createServer((_, response) => response.end('<h1>A site</h1>')))
  await using system = await startSystem(['--workers-max', '1', '--allow-target', `127.0.0.1:${site.port}`])
  const key = await createTenant(system)
  await using alerts = await watchAlerts(system)
  const urls = Array.from({ length: 100 }, (_, nth) => `http://127.0.0.1:${site.port}/${nth}`)
  const sendBatch = () =>
    fetch(`${system.baseUrl}/v1/screenshots/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ urls, delay: 1 }),
    })
  for (let nth = 0; nth < 10; nth += 1) t.equal((await sendBatch()).status, 202)
  await using _load = keepSending(1, () => system.post('/v1/screenshots/capture', { html: '<h1>Another tenant</h1>' }))
  await alerts.reaches('shutterfleet_sync_waits_total{outcome="completed"}', 20)
  await alerts.expect(t, ['ShutterfleetPoolAtMaximum'])
})

t.test('alerts: with too low a maximum the pool is at its maximum, and captures wait too long', async (t) => {
  await using system = await startSystem(['--workers-max', '1'])
  await using alerts = await watchAlerts(system)
  for (let nth = 0; nth < 60; nth += 1) await system.create({ html: `<h1>${nth}</h1>`, delay: 1 })
  await alerts.expect(t, ['ShutterfleetPoolAtMaximum', 'ShutterfleetQueueWaitFast', 'ShutterfleetQueueWaitSlow'])
})
