import { createHmac } from 'node:crypto'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { startSystem } from '#test/helpers/system.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

t.test('local webhooks: on one machine a capture that ends is delivered to the webhooks of its account', async (t) => {
  await using certificate = await makeCertificate(['localhost'])
  await using receiver = await startReceiver(certificate, (_, nth) => (nth === 1 ? 500 : 200))
  const allowed = ['--allow-target', `127.0.0.1:${receiver.port}`, '--extra-ca', certificate.certPath]
  const system = await startSystem([...allowed, '--webhook-retries', '100ms'])
  t.teardown(() => system.stop())
  const { base_url: baseUrl, api_key: key } = await system.readLocal()
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${baseUrl}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return ((await response.json()) as { data: { id: string; secret: string } }).data
  }
  const { secret } = await post('/webhooks', { url: `https://127.0.0.1:${receiver.port}/in` })
  const { id } = await post('/screenshots', { html: '<h1>A page</h1>' })
  await eventually(() => receiver.received.length === 2, { withinMs: 30_000 })
  const { headers, body } = receiver.received[1]!
  t.equal(body, receiver.received[0]?.body, 'the second attempt carries the same bytes')
  t.equal(headers['x-webhook-signature'], createHmac('sha256', secret).update(body).digest('hex'))
  t.match(JSON.parse(body), {
    event: 'screenshot.completed',
    data: { id, status: 'completed', image_url: `${baseUrl}/v1/screenshots/${id}/image` },
  })
})
