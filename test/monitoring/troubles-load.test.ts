import { createServer } from 'node:http'
import t from 'tap'
import { createAccountKey } from '#test/helpers/create-account-key.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startSystem } from '#test/helpers/system.ts'
import { keepSending, watchAlerts } from '#test/helpers/watched-alerts.ts'

t.test('alerts: with a noisy tenant the pool is at its maximum, and captures of others do not wait', async (t) => {
  await using site = await listening(createServer((_, response) => response.end('<h1>A site</h1>')))
  await using system = await startSystem(['--workers-max', '1', '--allow-target', `127.0.0.1:${site.port}`])
  const key = await createAccountKey(system)
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
