import sharp from 'sharp'
import t from 'tap'
import {
  type CaptureEvent,
  Shutterfleet,
  ShutterfleetError,
  verifyWebhook,
  type WebhookEvent,
} from '#client/shutterfleet.js'
import { eventually } from '#test/helpers/eventually.ts'
import { startSystem } from '#test/helpers/system.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

const certificate = await makeCertificate(['localhost'])
const receiver = await startReceiver(certificate, () => 200)
const allowed = [
  '--workers-max',
  '1',
  '--allow-target',
  `127.0.0.1:${receiver.port}`,
  '--extra-ca',
  certificate.certPath,
]
const system = await startSystem(allowed)
t.teardown(async () => {
  await system.stop()
  for (const each of [receiver, certificate]) await each[Symbol.asyncDispose]()
})
const { base_url: baseUrl, api_key: apiKey } = await system.readLocal()
const shots = new Shutterfleet({ baseUrl, apiKey })
const html = '<h1>A page</h1>'
const unknown = '00000000-0000-4000-8000-000000000000'

const rejectionCode = async (work: Promise<unknown>) => {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  return thrown instanceof ShutterfleetError ? thrown.code : thrown
}

t.test('typescript client: captures synchronously, as an image or as a record', async (t) => {
  const image = await shots.capture({ html, format: 'webp', width: 400, height: 300 })
  t.match(image, { contentType: 'image/webp', cached: false })
  t.match(await sharp(image.bytes).metadata(), { format: 'webp', width: 400, height: 300 })
  t.match(await shots.captureRecord({ html }), { status: 'completed', width: 1280, mime_type: 'image/png' })
})

t.test('typescript client: creates, waits, and reads the image and its metadata', async (t) => {
  const { id, status } = await shots.create({ html, delay: 1 })
  t.equal(status, 'pending')
  t.match(await shots.waitFor(id), { id, status: 'completed' })
  const image = await shots.image(id)
  t.match(await shots.describeImage(id), { contentType: 'image/png', bytes: image.bytes.length, etag: /^"/ })
  t.match(await shots.status(id, { wait: 1 }), { file_size: image.bytes.length })
})

t.test('typescript client: waitFor throws NOT_READY when its time is over', async (t) => {
  const { id } = await shots.create({ html, delay: 5 })
  t.equal(await rejectionCode(shots.waitFor(id, { waitMs: 10 })), 'NOT_READY')
  await shots.delete(id)
  t.equal(await rejectionCode(shots.status(id)), 'NOT_FOUND')
})

t.test('typescript client: the same idempotency key returns the same capture', async (t) => {
  const first = await shots.create({ html }, { idempotencyKey: 'a-key' })
  t.equal((await shots.create({ html }, { idempotencyKey: 'a-key' })).id, first.id)
  t.not((await shots.create({ html })).id, first.id)
  t.equal(await rejectionCode(shots.create({ html: 'other' }, { idempotencyKey: 'a-key' })), 'IDEMPOTENCY_MISMATCH')
})

t.test('typescript client: rejections and failed captures are errors with code, status and details', async (t) => {
  const refused = await shots.create({ html, width: 1 }).catch((error: unknown) => error)
  t.ok(refused instanceof ShutterfleetError)
  t.match(refused, { code: 'VALIDATION_ERROR', status: 422, details: { width: [String] }, requestId: String })
  const failed = await shots.capture({ url: 'http://unknown.invalid/' }).catch((error: unknown) => error)
  t.match(failed, { name: 'ShutterfleetError', code: 'DNS_FAILED', status: 422, screenshotId: /-/ })
  t.match(await shots.captureRecord({ url: 'http://unknown.invalid/' }), { error: { code: 'DNS_FAILED' } })
  t.equal(await rejectionCode(new Shutterfleet({ baseUrl, apiKey: 'sk_live_no' }).account()), 'INVALID_API_KEY')
  t.equal(await rejectionCode(shots.image(unknown)), 'NOT_FOUND')
})

t.test(
  'typescript client: streams the events of a batch until its result, and lists its captures over several pages',
  async (t) => {
    const urls = ['http://unknown.invalid/1', 'http://unknown.invalid/2', 'http://unknown.invalid/3']
    const { id, total } = await shots.batch({ urls, format: 'jpeg' })
    t.equal(total, 3)
    const statuses: string[] = []
    for await (const { event } of shots.batchEvents(id)) statuses.push(event)
    t.equal(statuses.filter((event) => event === 'screenshot').length, 3)
    t.equal(statuses.at(-1), 'result')
    t.match(await shots.batchStatus(id), { status: 'completed', failed: 3 })
    const listed = new Set<string | null>()
    for await (const { url, batch_id } of shots.list({ status: 'failed', perPage: 2 }))
      if (batch_id === id) listed.add(url)
    t.strictSame(listed, new Set(urls))
  },
)

t.test('typescript client: streams the events of a capture until its result', async (t) => {
  const { id } = await shots.create({ html })
  const events: CaptureEvent[] = []
  for await (const event of shots.events(id)) events.push(event)
  t.match(events.at(-1), { event: 'result', data: { id, status: 'completed' } })
})

t.test('typescript client: creates signed links, which need no key', async (t) => {
  const { id } = await shots.captureRecord({ html })
  const { url, expires_in } = await shots.signedUrl(id, { expiresIn: 5 })
  t.equal(expires_in, 5)
  t.equal((await fetch(url)).headers.get('content-type'), 'image/png')
  t.match(await shots.signedUrl(id), { expires_in: 60 })
})

t.test('typescript client: reads account and usage', async (t) => {
  t.match(await shots.account(), { plan: { slug: 'unlimited' }, subscription: null })
  t.match(await shots.usage(), { screenshots_used: Number, screenshots_limit: null })
  const { days = [] } = await shots.usage({ from: '2026-02-28', to: '2026-03-01' })
  t.match(days, [{ day: '2026-02-28', charged: 0 }, { day: '2026-03-01' }])
})

t.test('typescript client: manages webhooks, and verifies the signature of deliveries', async (t) => {
  const { webhooks } = shots
  const { id, secret } = await webhooks.create({ url: `https://127.0.0.1:${receiver.port}/in` })
  t.match(await webhooks.list(), [{ id, active: true }])
  t.match(await webhooks.change(id, { description: 'mine' }), { description: 'mine' })
  t.match(await webhooks.get(id), { description: 'mine' })
  const { id: tested } = await webhooks.test(id)
  await eventually(() => receiver.received.length === 1)
  const [{ headers, body }] = receiver.received as [(typeof receiver.received)[0]]
  t.match(await verifyWebhook(secret, headers, body), { event: 'webhook.test', data: { id: tested } })
  const verified: WebhookEvent = await verifyWebhook(
    secret,
    new Headers(headers as Record<string, string>),
    Buffer.from(body),
  )
  t.equal(verified.event, 'webhook.test')
  const stale = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 301) }
  await t.rejects(verifyWebhook(secret, headers, `${body} `), /does not fit/)
  await t.rejects(verifyWebhook(`whsec_${btoa('another secret, as long as it')}`, headers, body), /does not fit/)
  await t.rejects(verifyWebhook(secret, stale, body), /too old/)
  await t.rejects(verifyWebhook(secret, {}, body), /missing/)

  const deliveries = () => Array.fromAsync(webhooks.deliveries(id, { perPage: 1 }))
  await eventually(async () => (await deliveries())[0]?.status === 'delivered')
  t.match(await deliveries(), [{ id: tested, webhook_id: id, attempts: [{ status: 200 }] }])
  t.match(await webhooks.redeliver(id, tested), { id: tested })
  await eventually(() => receiver.received.length === 2)
  t.not((await webhooks.rotateSecret(id)).secret, secret)

  const { id: captured } = await shots.captureRecord({ html })
  await eventually(async () => (await Array.fromAsync(shots.deliveries(captured)))[0]?.status === 'delivered')
  const [delivery] = await Array.fromAsync(shots.deliveries(captured))
  t.match(await shots.redeliver(captured, delivery?.id ?? ''), { id: delivery?.id })
  await webhooks.delete(id)
  t.equal(await rejectionCode(webhooks.get(id)), 'NOT_FOUND')
})
