import { captureByBody, captureByQuery } from './capture-screenshot.ts'
import { createScreenshot } from './create-screenshot.ts'
import { deleteScreenshot } from './delete-screenshot.ts'
import { describeImage, downloadImage } from './download-image.ts'
import type { Operation } from './operation.ts'
import { showStatus } from './show-status.ts'
import { signUrl } from './sign-url.ts'

/** One operation of the interface, under the name that metrics and logs use. */
export type Route = {
  readonly name: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the version's prefix; `:id` is a capture's. */
  readonly path: string
  readonly run: Operation
}

/** Every operation of the interface. */
export const routes = [
  { name: 'capture_get', method: 'GET', path: '/screenshots/capture', run: captureByQuery },
  { name: 'capture_post', method: 'POST', path: '/screenshots/capture', run: captureByBody },
  { name: 'create', method: 'POST', path: '/screenshots', run: createScreenshot },
  { name: 'status', method: 'GET', path: '/screenshots/:id', run: showStatus },
  { name: 'image', method: 'GET', path: '/screenshots/:id/image', run: downloadImage },
  { name: 'image_head', method: 'HEAD', path: '/screenshots/:id/image', run: describeImage },
  { name: 'delete', method: 'DELETE', path: '/screenshots/:id', run: deleteScreenshot },
  { name: 'sign_url', method: 'POST', path: '/screenshots/:id/signed-url', run: signUrl },
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

/** What a path with an id would take over from a more exact one, `capture` for an id: methods that the exact path refuses. */
export const unserved: readonly Pick<Route, 'method' | 'path'>[] = [...new Set(routes.map(({ path }) => path))]
  .filter((path) => !path.includes(':id'))
  .flatMap((path) => {
    const served = routes.filter((route) => route.path === path).map(({ method }): string => method)
    const taken = routes.filter((route) => route.path.includes(':id') && matches(route.path, path))
    return taken.filter(({ method }) => !served.includes(method)).map(({ method }) => ({ method, path }))
  })

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
