import t from 'tap'
import { type CompletedScreenshot, type FailedScreenshot, Shutterfleet } from '#client/shutterfleet.js'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { routes } from '#gateway/routes.ts'

// Compares the client's methods with the OpenAPI document, from which its types are generated.

type Document = {
  readonly components: { readonly schemas: Readonly<Record<string, { readonly required: readonly string[] }>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
}

// The exact one: the published one joins the states of a record.
const document = JSON.parse(JSON.stringify(openapiDocument(routes, ''))) as Document

/** One call of the client for each operation. */
const calls: Readonly<Record<string, (shots: Shutterfleet) => unknown>> = {
  capture_post: (shots) => shots.capture({ html: 'x' }),
  list: (shots) => shots.list().next(),
  create: (shots) => shots.create({ html: 'x' }),
  batch: (shots) => shots.batch({ urls: [] }),
  batch_list: (shots) => shots.batches().next(),
  batch_status: (shots) => shots.batchStatus('1'),
  status: (shots) => shots.status('1'),
  delete: (shots) => shots.delete('1'),
  events: (shots) => shots.events('1').next(),
  batch_events: (shots) => shots.batchEvents('1').next(),
  account_events: (shots) => shots.accountEvents().next(),
  image: (shots) => shots.image('1'),
  file: (shots) => shots.file('1', 'html'),
  image_head: (shots) => shots.describeImage('1'),
  sign_url: (shots) => shots.signedUrl('1'),
  account: (shots) => shots.account(),
  usage: (shots) => shots.usage(),
  account_targets: (shots) => shots.targets(),
  account_targets_replace: (shots) => shots.replaceTargets({ allow: [], deny: [] }),
  activity: (shots) => shots.activity().next(),
  activity_export: (shots) => shots.exportActivity({ from: '2026-01-01' }).next(),
  key_list: (shots) => shots.keys.list(),
  key_create: (shots) => shots.keys.create({ name: 'Website' }),
  link_secret_rotate: (shots) => shots.keys.rotateLinkSecret('1'),
  link_create: (shots) => shots.keys.createLink('1', { parameters: {} }),
  key_revoke: (shots) => shots.keys.revoke('1'),
  member_list: (shots) => shots.members.list(),
  capture_deliveries: (shots) => shots.deliveries('1').next(),
  capture_redeliver: (shots) => shots.redeliver('1', '2'),
  webhook_list: (shots) => shots.webhooks.list(),
  webhook_create: (shots) => shots.webhooks.create({ url: 'https://x' }),
  webhook_show: (shots) => shots.webhooks.get('1'),
  webhook_change: (shots) => shots.webhooks.change('1', {}),
  webhook_delete: (shots) => shots.webhooks.delete('1'),
  webhook_test: (shots) => shots.webhooks.test('1'),
  webhook_rotate_secret: (shots) => shots.webhooks.rotateSecret('1'),
  webhook_deliveries: (shots) => shots.webhooks.deliveries('1').next(),
  upload_destination_list: (shots) => shots.uploadDestinations.list(),
  upload_destination_create: (shots) =>
    shots.uploadDestinations.create({
      name: 'archive',
      endpoint: 'https://x',
      bucket: 'shots',
      access_key_id: 'a',
      secret_access_key: 'b',
    }),
  upload_destination_delete: (shots) => shots.uploadDestinations.delete('1'),
  upload_destination_test: (shots) => shots.uploadDestinations.test('1'),
  webhook_redeliver: (shots) => shots.webhooks.redeliver('1', '2'),
}

/** Operations without a method: the GET variant of a POST, the documentation, links, which browsers request, and what keys may not. */
const without = [
  ...['capture_get', 'openapi', 'docs', 'render', 'render_head'],
  ...['member_add', 'member_change', 'member_remove', 'member_link'],
]

t.test('typescript client openapi: every operation has a method, which sends exactly that request', async (t) => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [{ operationId, request: `${method.toUpperCase()} ${path}` }],
    ),
  )
  const needed = operations.filter(({ operationId }) => !without.includes(operationId))
  t.strictSame(needed.map(({ operationId }) => operationId).toSorted(), Object.keys(calls).toSorted())
  for (const { operationId, request } of needed) {
    const requests: string[] = []
    const fetch: typeof globalThis.fetch = async (url, init) => {
      requests.push(`${init?.method ?? 'GET'} ${new URL(url instanceof Request ? url.url : url).pathname}`)
      throw new Error('request recorded')
    }
    const shots = new Shutterfleet({ baseUrl: 'http://here', apiKey: 'sk_live_x', fetch })
    await t.rejects(Promise.resolve(calls[operationId]?.(shots)), /request recorded/)
    t.strictSame(requests, [request.replace('{id}', '1').replace('{delivery_id}', '2').replace('{file}', 'html')])
  }
})

/** The fields that a record always has. */
type Always<T> = { [K in keyof T]-?: {} extends Pick<T, K> ? never : K }[keyof T]

const every = { id: true, url: true, options: true, created_at: true, status: true } as const
// The compiler compares these with the types.
const completed: Record<Always<CompletedScreenshot>, true> = {
  ...every,
  ...{ completed_at: true, file_size: true, mime_type: true, width: true, height: true, processing_time_ms: true },
  ...{ image_url: true, cached: true, warnings: true },
}
const failed: Record<Always<FailedScreenshot>, true> = { ...every, error: true }

t.test('typescript client openapi: the status of a record tells which fields it has', async (t) => {
  const { CompletedScreenshot: ofCompleted, FailedScreenshot: ofFailed } = document.components.schemas
  t.strictSame(Object.keys(completed).toSorted(), ofCompleted?.required.toSorted())
  t.strictSame(Object.keys(failed).toSorted(), ofFailed?.required.toSorted())
})
