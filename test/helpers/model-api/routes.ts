import type { Patch } from '#shared/kube/client.ts'
import type { KubeRequest } from '#shared/kube/connection.ts'
import { isPlainObject, type Stored, type JsonObject } from './object.ts'
import { type Match, matchOf, type ModelLists } from './reads.ts'
import { statusError } from './status-error.ts'
import type { ModelServer, Target } from './server.ts'
import type { Kind } from './kind.ts'

/** A parsed request. */
export type Route =
  | { readonly verb: 'watch'; readonly kind: Kind; readonly match: Match; readonly query: KubeRequest['query'] }
  | { readonly verb: 'answer'; readonly run: () => object; readonly code: number }

type Call = Pick<KubeRequest, 'method' | 'path' | 'query' | 'body'>

const patchKinds: Readonly<Record<string, Patch['kind']>> = {
  'application/merge-patch+json': 'merge',
  'application/json-patch+json': 'json',
  'application/apply-patch+yaml': 'apply',
}

/** Group, version, plural, namespace, name and subresource of a path. */
const parsePath = (path: string) => {
  const steps = path
    .split('/')
    .filter((step) => step !== '')
    .map(decodeURIComponent)
  const version = steps[0] === 'api' ? steps.slice(1, 2) : steps.slice(1, 3)
  const rest = steps.slice(1 + version.length)
  const isIn = rest[0] === 'namespaces'
  const [plural = '', name, subresource] = isIn ? rest.slice(2) : rest
  return { resource: `${version.join('/')}/${plural}`, namespace: isIn ? rest[1] : undefined, name, subresource }
}

/** Parses a request. Throws a StatusError if the path is not served. `user` is the default field manager. */
export const routeOf = (server: ModelServer, lists: ModelLists, call: Call, user: string): Route => {
  const { method, query } = call
  const { resource, namespace, name, subresource } = parsePath(call.path)
  const kind = server.kind(resource)
  const manager = query['fieldManager'] ?? user
  const answer = (run: () => object, code = 200): Route => ({ verb: 'answer', run, code })
  if (name === undefined) {
    if (method === 'POST') return answer(() => server.create(kind, namespace, bodyOf(call), manager), 201)
    const match = matchOf(query, namespace)
    if (query['watch'] === 'true') return { verb: 'watch', kind, match, query }
    const limit = Number(query['limit'] ?? Number.MAX_SAFE_INTEGER)
    return answer(() => lists.page(kind, match, { limit, token: query['continue'] }))
  }
  const target: Target = { kind, namespace, name, subresource: allowed(kind, subresource) }
  if (method === 'GET') return answer(() => server.get(target))
  if (method === 'PATCH') return answer(() => server.patch(target, patchOf(call, manager), manager))
  if (method === 'DELETE') return answer(() => removed(server, target, bodyOf(call)))
  throw statusError(405, 'MethodNotAllowed', `${method} is not supported`)
}

const allowed = (kind: Kind, subresource: string | undefined): string | undefined => {
  const has = { status: kind.hasStatus, scale: kind.hasScale }
  if (subresource !== undefined && has[subresource as keyof typeof has] !== true)
    throw statusError(404, 'NotFound', 'the server could not find the requested resource')
  return subresource
}

const parsed = ({ body }: Call): unknown => JSON.parse(body?.text ?? '{}')

const bodyOf = (call: Call): JsonObject => {
  const body = parsed(call)
  return isPlainObject(body) ? body : {}
}

const patchOf = (call: Call, fieldManager: string): Patch => {
  const kind = patchKinds[call.body?.type ?? ''] ?? 'merge'
  const body = parsed(call) as object
  if (kind === 'apply') return { kind, body, fieldManager, force: call.query['force'] === 'true' }
  return kind === 'json' ? { kind, body: body as object[] } : { kind, body }
}

const removed = (server: ModelServer, target: Target, options: JsonObject): object => {
  const { preconditions, gracePeriodSeconds, propagationPolicy } = options as {
    preconditions?: { uid?: string }
    gracePeriodSeconds?: number
    propagationPolicy?: string
  }
  const before: Stored = server.get(target)
  server.remove(target, { uid: preconditions?.uid, graceSeconds: gracePeriodSeconds, propagation: propagationPolicy })
  return before
}
