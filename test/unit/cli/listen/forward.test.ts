import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { createDelivery, forward } from '#cli/listen/forward.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const event = { event: 'screenshot.failed', data: { id: 'x' } } as const
const stop = new AbortController().signal

const startReceiver = async (status: number) => {
  const received: { headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(status, { location: '/elsewhere' }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, received }
}

t.test('forward: a receiver gets the body and the signatures of a webhook', async (t) => {
  const { url, received } = await startReceiver(204)
  const delivery = createDelivery(event, secret, new Date())
  t.match(await forward(url, delivery, stop), { status: 204, error: null, ms: Number })
  const [{ headers, body } = { headers: {}, body: '' }] = received
  t.match(new Webhook(secret).verify(body, headers as Record<string, string>), event)
  t.match(headers, { 'user-agent': 'Shutterfleet-Webhooks', 'content-type': 'application/json' })
  t.match(headers['x-webhook-signature'], /^[0-9a-f]{64}$/)
  t.match((JSON.parse(body) as { sent_at: string }).sent_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  t.not(createDelivery(event, secret, new Date()).id, delivery.id)
})

t.test('forward: reports why a delivery failed, and follows no redirect', async (t) => {
  const delivery = createDelivery(event, secret, new Date())
  const { url, received } = await startReceiver(302)
  t.match(await forward(url, delivery, stop), { status: 302, error: 'status 302' })
  t.equal(received.length, 1)
  t.match(await forward('http://127.0.0.1:1/', delivery, stop), { status: null, error: String })
})
