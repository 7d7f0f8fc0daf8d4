import { createServer } from 'node:http'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { startSystem } from '#test/helpers/system.ts'
import { keepSending, watchAlerts } from '#test/helpers/watched-alerts.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

t.test(
  'alerts: none fires for a slow target, whose captures fail with TIMEOUT, and a hanging webhook receiver, whose deliveries time out',
  async (t) => {
    await using target = await listening(createServer(() => {}))
    await using certificate = await makeCertificate(['localhost'])
    await using receiver = await startReceiver(certificate, () => 'hang')
    const allowed = [target.port, receiver.port].flatMap((port) => ['--allow-target', `127.0.0.1:${port}`])
    const args = ['--workers-max', '4', '--extra-ca', certificate.certPath]
    await using system = await startSystem([...args, ...allowed])
    await using alerts = await watchAlerts(system)
    const parameters = { html: '<h1>Hung</h1>', webhook_url: `https://127.0.0.1:${receiver.port}/in` }
    // One after the other: beside starting workers, slow machines would let captures wait longer than their objective.
    for (let nth = 0; nth < 5; nth += 1) await system.post('/v1/screenshots/capture', parameters)
    const url = `http://127.0.0.1:${target.port}/`
    await using _load = keepSending(1, () => system.post('/v1/screenshots/capture', { url, timeout: 5 }))
    await alerts.reaches('shutterfleet_captures_ended_total{outcome="TIMEOUT"}', 6)
    await alerts.reaches('shutterfleet_webhook_attempts_total{outcome="timeout"}', 1)
    await alerts.expect(t, [])
  },
)
