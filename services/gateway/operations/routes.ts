import { batchEvents } from './batch-events.ts'
import { captureEvents } from './capture-events.ts'
import { captureByBody, captureByQuery } from './capture-screenshot.ts'
import { createScreenshot } from './create-screenshot.ts'
import { describeImage, downloadImage } from './download-image.ts'
import type { Operation } from './operation.ts'
import { showStatus } from './show-status.ts'

/** One operation of the interface, under the name that metrics and logs use. */
export type Route = {
  readonly name: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the version's prefix; `:id` is a capture's. */
  readonly path: string
  readonly run: Operation
  /** Whether it accepts captures, which it does not while maintenance is on. */
  readonly accepts?: true
}

/** Every operation of the interface. */
export const routes = [
  { name: 'capture_get', method: 'GET', path: '/screenshots/capture', run: captureByQuery, accepts: true },
  { name: 'capture_post', method: 'POST', path: '/screenshots/capture', run: captureByBody, accepts: true },
  { name: 'create', method: 'POST', path: '/screenshots', run: createScreenshot, accepts: true },
  { name: 'status', method: 'GET', path: '/screenshots/:id', run: showStatus },
  { name: 'events', method: 'GET', path: '/screenshots/:id/events', run: captureEvents },
  { name: 'batch_events', method: 'GET', path: '/screenshots/batch/:id/events', run: batchEvents },
  { name: 'image', method: 'GET', path: '/screenshots/:id/image', run: downloadImage },
  { name: 'image_head', method: 'HEAD', path: '/screenshots/:id/image', run: describeImage },
] as const satisfies readonly Route[]

/** Name of an operation; `none` where a request names none. */
export type OperationName = (typeof routes)[number]['name'] | 'none'

/** Prefixes under which every operation is served. */
export const prefixes = ['/v1', '/api/v1'] as const

/** A path that a later version serves and that is nothing in this one: `batch` is never an id. */
export const reservedPath = '/screenshots/batch'

const matches = (pattern: string, path: string): boolean => {
  const parts = pattern.split('/')
  const given = path.split('/')
  return (
    given.length === parts.length &&
    parts.every((part, index) => (part === ':id' ? given[index] !== '' : part === given[index]))
  )
}

/** The methods that the most exact path serves, `OPTIONS` included; none where no operation has the path. */
export const methodsAt = (path: string): string[] => {
  const below = prefixes.find((prefix) => path.startsWith(`${prefix}/`))
  if (below === undefined) return []
  const rest = path.slice(below.length)
  if (rest === reservedPath) return []
  const fitting = routes.filter((route) => matches(route.path, rest))
  const exact = fitting.filter((route) => !route.path.includes(':id'))
  const methods = (exact.length > 0 ? exact : fitting).map((route) => route.method)
  return methods.length === 0 ? [] : [...methods, 'OPTIONS']
}
