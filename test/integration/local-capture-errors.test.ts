import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { captureErrorCodes, type CaptureErrorCode, catalog } from '#shared/errors/catalog.ts'
import { failingPages } from '#test/fixtures/pages/pages.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

// Produces each error code by a real fault in a whole system, and compares every place that reports it.

type ReportedError = { readonly code: string; readonly message: string }
type Envelope = { readonly error: ReportedError & { readonly status: number; readonly screenshot_id: string } }
type Event = { readonly event: string; readonly data: { readonly id: string; readonly error: ReportedError } }

const certificate = await makeCertificate(['localhost'])
const receiver = await startReceiver(certificate, () => 200)
const site = await listening(
  createServer((request, response) => {
    const page = failingPages[request.url ?? '']
    if (page) page.route(request, response)
    else response.writeHead(404).end()
  }),
)
const here = `127.0.0.1:${site.port}`
const system = await startSystem(
  [here, `127.0.0.1:${receiver.port}`]
    .flatMap((target) => ['--allow-target', target])
    .concat(['--extra-ca', certificate.certPath, '--workers-max', '3']),
  { env: { SHUTTERFLEET_PROXIED_WAIT_SECONDS: '10' } },
)
t.teardown(async () => {
  await system.stop()
  for (const each of [site, receiver, certificate]) await each[Symbol.asyncDispose]()
})

/** Breaks the key of the workers for proxied captures, and restarts the controller so that it starts them with it. */
const breakProxiedWorkers = async ({ dataDir, readLocal }: System) => {
  const file = join(dataDir, 'proxied-worker-env.json')
  const env = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>
  await writeFile(file, JSON.stringify({ ...env, SHUTTERFLEET_WORKER_OPENING_KEYS: 'lost' }))
  const find = async () => (await readLocal()).services.find(({ name }) => name === 'controller')
  const before = await find()
  process.kill(before?.pid ?? 0, 'SIGKILL')
  await eventually(async () => (await find())?.pid !== before?.pid, { withinMs: 30_000 })
}

const chargesMade = async () => {
  const answer = await system.request('/v1/account/usage')
  return ((await answer.json()) as { data: { screenshots_used: number } }).data.screenshots_used
}

/** Sum of a metric's lines that contain all `labels`. */
const readCounter = async (service: string, metric: string, ...labels: readonly string[]) =>
  (await system.metrics(service))
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)

/** The parameters of a capture that fails with each code. */
const faults: Readonly<Record<CaptureErrorCode, { url: string; proxy?: string }>> = {
  TIMEOUT: { url: `http://${here}/endless` },
  DNS_FAILED: { url: 'http://unknown.invalid/' },
  CONNECTION_FAILED: { url: `http://${here}/hangs-up` },
  BLOCKED: { url: `http://${here}/to-private` },
  INVALID_URL: { url: `http://${here}/nothing` },
  RENDER_ERROR: { url: `http://${here}/loops-after-load` },
  JOB_FAILED: { url: `http://${here}/nothing`, proxy: `http://${here}` },
}

await breakProxiedWorkers(system)
await system.post('/v1/webhooks', { url: `https://127.0.0.1:${receiver.port}/in` })
const usedBefore = await chargesMade()

// Concurrent, so that the slow ones overlap.
t.test(
  'local capture errors: each of the seven errors is equal in response, record, image, webhook and metrics',
  { jobs: 7 },
  (t) => {
    for (const code of captureErrorCodes) {
      t.test(code, async (t) => {
        const answer = await system.post('/v1/screenshots/capture', { ...faults[code], timeout: 5 })
        const { status } = catalog[code]
        t.equal(answer.status, status, 'faults of the target are 422, faults of the service 500')
        const { error } = (await answer.json()) as Envelope
        t.match(error, { code, status, screenshot_id: answer.headers.get('x-screenshot-id') })
        const expected = { code, message: error.message }

        const record = await system.record(error.screenshot_id)
        t.match(record, { id: error.screenshot_id, status: 'failed' })
        t.strictSame(record.error, expected)
        t.notOk('image_url' in record || 'mime_type' in record, 'a failed record has no image')

        const image = await system.request(`/v1/screenshots/${error.screenshot_id}/image`)
        t.equal(image.status, 404)
        t.match(await image.json(), { error: { code: 'NOT_READY', message: new RegExp(code) } })

        const eventOf = () =>
          receiver.received
            .map(({ body }) => JSON.parse(body) as Event)
            .find(({ data }) => data.id === error.screenshot_id)
        await eventually(() => eventOf() !== undefined, { withinMs: 30_000, what: `the webhook of ${code}` })
        t.equal(eventOf()?.event, 'screenshot.failed')
        t.strictSame(eventOf()?.data.error, expected)

        const labels = [`outcome="${code}"`, `fault="${code === 'JOB_FAILED' ? 'service' : 'target'}"`]
        const ended = await readCounter('ledger', 'shutterfleet_captures_ended_total', ...labels)
        t.equal(ended, 1, 'counted by the ledger under its code and fault')
        const answered = ['operation="capture_post"', `status="${status}"`, `code="${code}"`]
        t.equal(
          await readCounter('gateway', 'shutterfleet_http_requests_total', ...answered),
          1,
          'counted by the gateway under its code',
        )
      })
    }
    t.end()
  },
)

t.test(
  'local capture errors: a selector without a match is 500 by contract, and no fault of the service',
  async (t) => {
    const answer = await system.post('/v1/screenshots/capture', { html: '<p>', selector: '#never', timeout: 5 })
    t.equal(answer.status, 500)
    t.match(await answer.json(), { error: { code: 'RENDER_ERROR', message: /#never/ } })
    const endedBy = (fault: string) =>
      readCounter('ledger', 'shutterfleet_captures_ended_total', 'outcome="RENDER_ERROR"', `fault="${fault}"`)
    t.equal(await endedBy('caller'), 1)
    t.equal(await endedBy('service'), 0)
  },
)

t.test('local capture errors: none of them is charged', async (t) => {
  t.equal(await chargesMade(), usedBefore)
})
