import { showAccount, showUsage } from './account/account.ts'
import { createScreenshots } from './batches/create.ts'
import { batchEvents } from './batches/events.ts'
import { showBatch } from './batches/status.ts'
import { captureByBody, captureByQuery } from './captures/capture.ts'
import { createScreenshot } from './captures/create.ts'
import { deleteScreenshot } from './captures/delete.ts'
import { captureEvents } from './captures/events.ts'
import { describeImage, downloadImage } from './captures/image.ts'
import { listScreenshots } from './captures/list.ts'
import { signUrl } from './captures/sign-url.ts'
import { showStatus } from './captures/status.ts'
import type { Operation } from './operation.ts'
import { showDocs, showOpenapi } from './reference/reference.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  rotateWebhookSecret,
  showWebhook,
  testWebhook,
} from './webhooks/webhooks.ts'
import {
  listCaptureDeliveries,
  listWebhookDeliveries,
  redeliverOfCapture,
  redeliverOfWebhook,
} from './webhooks/deliveries.ts'

/** Every operation of the interface, in the order of its document. */
export const routes: readonly Operation[] = [
  captureByQuery,
  captureByBody,
  listScreenshots,
  createScreenshot,
  createScreenshots,
  showBatch,
  showStatus,
  captureEvents,
  batchEvents,
  downloadImage,
  describeImage,
  deleteScreenshot,
  signUrl,
  showAccount,
  showUsage,
  listCaptureDeliveries,
  redeliverOfCapture,
  showOpenapi,
  showDocs,
  listWebhooks,
  createWebhook,
  showWebhook,
  changeWebhook,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  listWebhookDeliveries,
  redeliverOfWebhook,
]

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
export const unserved: readonly Pick<Operation, 'method' | 'path'>[] = [
  ...new Set(routes.map(({ path }) => path)),
].flatMap((exact) => {
  const served = routes.filter(({ path }) => path === exact).map(({ method }): string => method)
  return routes.flatMap(({ method, path: loose }) => {
    const path = exactness(exact) < exactness(loose) ? overlap(exact, loose) : undefined
    return path === undefined || served.includes(method) ? [] : [{ method, path }]
  })
})

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
