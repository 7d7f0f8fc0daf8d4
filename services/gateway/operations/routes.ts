import { batchEvents } from './batch-events.ts'
import { batchScreenshots } from './batch-screenshots.ts'
import { captureEvents } from './capture-events.ts'
import { captureByBody, captureByQuery } from './capture-screenshot.ts'
import { changeWebhook } from './change-webhook.ts'
import { createScreenshot } from './create-screenshot.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteScreenshot } from './delete-screenshot.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { describeImage, downloadImage } from './download-image.ts'
import { listCaptureDeliveries, listWebhookDeliveries } from './list-deliveries.ts'
import { listScreenshots } from './list-screenshots.ts'
import { listWebhooks } from './list-webhooks.ts'
import type { Operation } from './operation.ts'
import { redeliverOfCapture, redeliverOfWebhook } from './redeliver.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { showAccount } from './show-account.ts'
import { showBatch } from './show-batch.ts'
import { showDocs } from './show-docs.ts'
import { showOpenapi } from './show-openapi.ts'
import { showStatus } from './show-status.ts'
import { showUsage } from './show-usage.ts'
import { showWebhook } from './show-webhook.ts'
import { signUrl } from './sign-url.ts'
import { testWebhook } from './test-webhook.ts'

/** One operation of the interface, under the name that metrics and logs use. */
export type Route = {
  readonly name: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the version's prefix; `:id` is a capture's or a webhook's. */
  readonly path: string
  readonly run: Operation
  /** Whether it accepts captures, which it does not while maintenance is on. */
  readonly accepts?: true
}

/** Every operation of the interface. */
export const routes = [
  { name: 'capture_get', method: 'GET', path: '/screenshots/capture', run: captureByQuery, accepts: true },
  { name: 'capture_post', method: 'POST', path: '/screenshots/capture', run: captureByBody, accepts: true },
  { name: 'list', method: 'GET', path: '/screenshots', run: listScreenshots },
  { name: 'create', method: 'POST', path: '/screenshots', run: createScreenshot, accepts: true },
  { name: 'batch', method: 'POST', path: '/screenshots/batch', run: batchScreenshots, accepts: true },
  { name: 'batch_status', method: 'GET', path: '/screenshots/batch/:id', run: showBatch },
  { name: 'status', method: 'GET', path: '/screenshots/:id', run: showStatus },
  { name: 'events', method: 'GET', path: '/screenshots/:id/events', run: captureEvents },
  { name: 'batch_events', method: 'GET', path: '/screenshots/batch/:id/events', run: batchEvents },
  { name: 'image', method: 'GET', path: '/screenshots/:id/image', run: downloadImage },
  { name: 'image_head', method: 'HEAD', path: '/screenshots/:id/image', run: describeImage },
  { name: 'delete', method: 'DELETE', path: '/screenshots/:id', run: deleteScreenshot },
  { name: 'sign_url', method: 'POST', path: '/screenshots/:id/signed-url', run: signUrl },
  { name: 'account', method: 'GET', path: '/account', run: showAccount },
  { name: 'usage', method: 'GET', path: '/account/usage', run: showUsage },
  { name: 'capture_deliveries', method: 'GET', path: '/screenshots/:id/deliveries', run: listCaptureDeliveries },
  {
    name: 'capture_redeliver',
    method: 'POST',
    path: '/screenshots/:id/deliveries/:delivery_id/redeliver',
    run: redeliverOfCapture,
  },
  { name: 'openapi', method: 'GET', path: '/openapi.json', run: showOpenapi },
  { name: 'docs', method: 'GET', path: '/docs', run: showDocs },
  { name: 'webhook_list', method: 'GET', path: '/webhooks', run: listWebhooks },
  { name: 'webhook_create', method: 'POST', path: '/webhooks', run: createWebhook },
  { name: 'webhook_show', method: 'GET', path: '/webhooks/:id', run: showWebhook },
  { name: 'webhook_change', method: 'PATCH', path: '/webhooks/:id', run: changeWebhook },
  { name: 'webhook_delete', method: 'DELETE', path: '/webhooks/:id', run: deleteWebhook },
  { name: 'webhook_test', method: 'POST', path: '/webhooks/:id/test', run: testWebhook },
  { name: 'webhook_rotate_secret', method: 'POST', path: '/webhooks/:id/rotate-secret', run: rotateWebhookSecret },
  { name: 'webhook_deliveries', method: 'GET', path: '/webhooks/:id/deliveries', run: listWebhookDeliveries },
  {
    name: 'webhook_redeliver',
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery_id/redeliver',
    run: redeliverOfWebhook,
  },
] as const satisfies readonly Route[]

/** Name of an operation; `none` where a request names none. */
export type OperationName = (typeof routes)[number]['name'] | 'none'

/** Prefixes under which every operation is served. */
export const prefixes = ['/v1', '/api/v1'] as const

const isPart = (segment: string): boolean => segment.startsWith(':')

/** `given`: the path's segments, decoded. */
const matches = (pattern: string, given: readonly string[]): boolean => {
  const parts = pattern.split('/')
  return (
    given.length === parts.length &&
    parts.every((part, index) => (isPart(part) ? given[index] !== '' : part === given[index]))
  )
}

/** Sorts the more exact path first, as the router does: `batch/:id` before `:id/image`. */
const exactness = (path: string): string => path.replaceAll(/[^/]+/g, (part) => (isPart(part) ? '1' : '0'))

/** The paths that both patterns match, as a pattern; undefined where there are none. */
const overlap = (one: string, other: string): string | undefined => {
  const [parts, others] = [one.split('/'), other.split('/')]
  const both = parts.map((part, index) => (isPart(part) ? (others[index] ?? '') : part))
  const isBoth = parts.length === others.length && others.every((part, index) => isPart(part) || part === both[index])
  return isBoth ? both.join('/') : undefined
}

/** What a path with an id would take over from a more exact one, `capture` for an id: methods that the exact path refuses. */
export const unserved: readonly Pick<Route, 'method' | 'path'>[] = [...new Set(routes.map(({ path }) => path))].flatMap(
  (exact) => {
    const served = routes.filter(({ path }) => path === exact).map(({ method }): string => method)
    return routes.flatMap(({ method, path: loose }) => {
      const path = exactness(exact) < exactness(loose) ? overlap(exact, loose) : undefined
      return path === undefined || served.includes(method) ? [] : [{ method, path }]
    })
  },
)

/** The methods that the most exact path serves, `OPTIONS` included; none where no operation has the path. */
export const methodsAt = (path: string): string[] => {
  const given = path.split('/').map(decodeURIComponent)
  const below = prefixes
    .map((prefix) => prefix.split('/'))
    .find((parts) => parts.every((part, at) => part === given[at]))
  if (below === undefined) return []
  const rest = ['', ...given.slice(below.length)]
  const fitting = routes.filter((route) => matches(route.path, rest))
  const [exact] = fitting.map((route) => exactness(route.path)).toSorted()
  const methods = fitting.filter((route) => exactness(route.path) === exact).map((route) => route.method)
  return methods.length === 0 ? [] : [...methods, 'OPTIONS']
}
