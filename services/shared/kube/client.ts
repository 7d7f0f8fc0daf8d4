import type { KubeResponse, KubeConnection, KubeRequest } from './connection.ts'
import { errorOfConnection, errorOfStatus, KubeError, type Status } from './kube-error.ts'
import { type Collection, collectionPath, type KubeObject, objectPath, type Ref } from './resource.ts'

/** One page of a list. `continueAt`: more pages of the same version follow. */
export type Page<T> = { readonly items: readonly T[]; readonly resourceVersion: string; readonly continueAt?: string }

/** An event of a watch. A bookmark's object contains only its version. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject }

/** Selectors of a collection's objects. */
export type Selection = { readonly labelSelector?: string | undefined; readonly fieldSelector?: string | undefined }

/** Requests at most `limit` objects, after the page with this `continueAt`. */
type PageQuery = Selection & { readonly limit: number; readonly continueAt?: string | undefined }

/** The version after which to watch, and how long the server keeps the watch open. */
export type WatchQuery = Selection & { readonly resourceVersion: string; readonly timeoutSeconds: number }

/** A change to an object. A merge with a `resourceVersion` in its metadata is rejected if the object has another. */
export type Patch =
  | { readonly kind: 'merge'; readonly body: object; readonly fieldManager?: string }
  | { readonly kind: 'json'; readonly body: readonly object[]; readonly fieldManager?: string }
  | { readonly kind: 'apply'; readonly body: object; readonly fieldManager: string; readonly force: boolean }

/** Preconditions and options of a deletion. */
export type Deletion = {
  readonly uid?: string
  readonly graceSeconds?: number
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
}

type CreateOptions = { readonly fieldManager?: string; readonly signal?: AbortSignal }

/**
 * Requests to the Kubernetes API. Each ends within 30 s, or when `signal` aborts, and rejects with a KubeError. A
 * watch has no time-out: it ends when the server ends it, and throws if the connection breaks or `signal` aborts.
 */
export type KubeApi = {
  readonly list: <T extends KubeObject>(
    collection: Collection,
    query: PageQuery,
    signal?: AbortSignal,
  ) => Promise<Page<T>>
  /** `opened` is called once the server has begun to respond. */
  readonly watch: <T extends KubeObject>(
    collection: Collection,
    query: WatchQuery,
    signal: AbortSignal,
    opened?: () => void,
  ) => AsyncIterable<WatchEvent<T>>
  readonly get: <T extends KubeObject>(ref: Ref, signal?: AbortSignal) => Promise<T>
  readonly create: <T extends KubeObject>(collection: Collection, object: T, options?: CreateOptions) => Promise<T>
  readonly patch: <T extends KubeObject>(ref: Ref, patch: Patch, signal?: AbortSignal) => Promise<T>
  readonly remove: (ref: Ref, deletion?: Deletion, signal?: AbortSignal) => Promise<void>
}

const pageItems = 500
const pagesMax = 200

/** Lists a collection page by page; calls `signal` for each request. Throws `invalid` above 100,000 objects. */
export async function* listPages<T extends KubeObject>(
  api: Pick<KubeApi, 'list'>,
  { labelSelector, fieldSelector, ...collection }: Collection & Selection,
  signal: () => AbortSignal,
): AsyncGenerator<Page<T>> {
  let continueAt: string | undefined
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page: Page<T> = await api.list<T>(
      collection,
      { labelSelector, fieldSelector, limit: pageItems, continueAt },
      signal(),
    )
    yield page
    continueAt = page.continueAt
    if (continueAt === undefined) return
  }
  throw new KubeError('invalid', { message: `more than ${pagesMax * pageItems} ${collection.resource.plural}` })
}

const callMs = 30_000
const bodyBytesMax = 64 * 1024 * 1024
const lineBytesMax = 8 * 1024 * 1024
const json = 'application/json'
const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  // JSON is YAML.
  apply: 'application/apply-patch+yaml',
} as const

type Call = Omit<KubeRequest, 'signal' | 'query'> & {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly signal: AbortSignal | undefined
}

/**
 * Creates the client of a connection. `fence` is called right before each request other than a read is sent; if it
 * throws, nothing is sent.
 */
export const createKubeApi = (connection: Pick<KubeConnection, 'send'>, fence?: () => void): KubeApi => {
  const call = async <T>({ signal, ...request }: Call): Promise<T> => {
    const limit = AbortSignal.timeout(callMs)
    const answer = await open(connection, { ...request, signal: signal ? AbortSignal.any([signal, limit]) : limit })
    return readJson<T>(answer, describeCall(request))
  }
  const write = <T>(request: Call) => call<T>({ ...request, ...(fence && { beforeSend: fence }) })

  return {
    list: async (collection, { continueAt, ...rest }, signal) => {
      const query = { ...rest, continue: continueAt }
      return toPage(await call({ method: 'GET', path: collectionPath(collection), query, signal }))
    },
    watch: (collection, query, signal, opened) => {
      const watched = { ...query, watch: true, allowWatchBookmarks: true }
      return readWatch(connection, { method: 'GET', path: collectionPath(collection), query: watched, signal }, opened)
    },
    get: (ref, signal) => call({ method: 'GET', path: objectPath(ref), signal }),
    create: (collection, object, { fieldManager, signal } = {}) => {
      const body = { type: json, text: JSON.stringify(object) }
      return write({ method: 'POST', path: collectionPath(collection), query: { fieldManager }, body, signal })
    },
    patch: (ref, patch, signal) => {
      const query = { fieldManager: patch.fieldManager, force: patch.kind === 'apply' ? patch.force : undefined }
      const body = { type: patchTypes[patch.kind], text: JSON.stringify(patch.body) }
      return write({ method: 'PATCH', path: objectPath(ref), query, body, signal })
    },
    remove: async (ref, { uid, graceSeconds, propagation } = {}, signal) => {
      const options = {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: graceSeconds,
        propagationPolicy: propagation,
        ...(uid !== undefined && { preconditions: { uid } }),
      }
      const body = { type: json, text: JSON.stringify(options) }
      await write({ method: 'DELETE', path: objectPath(ref), body, signal })
    },
  }
}

type List<T> = {
  readonly items?: readonly T[]
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
}

const toPage = <T>({ items = [], metadata = {} }: List<T>): Page<T> => {
  const { resourceVersion = '', continue: next = '' } = metadata
  return { items, resourceVersion, ...(next !== '' && { continueAt: next }) }
}

const describeCall = ({ method, path }: Pick<Call, 'method' | 'path'>): string => `${method} ${path}`

const open = async (
  connection: Pick<KubeConnection, 'send'>,
  { query = {}, signal, ...request }: Call & { readonly signal: AbortSignal },
): Promise<KubeResponse> => {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const answer = await connection.send({ ...request, query: Object.fromEntries(parameters), signal })
  if (answer.statusCode < 300) return answer
  throw errorOfStatus(await readStatus(answer, describeCall(request)), describeCall(request), answer.retryAfterSeconds)
}

const readStatus = async (answer: KubeResponse, what: string): Promise<Status> => {
  const text = await readText(answer, what)
  try {
    return { ...(JSON.parse(text) as Status), code: answer.statusCode }
  } catch {
    return { code: answer.statusCode, message: text }
  }
}

const readJson = async <T>(answer: KubeResponse, what: string): Promise<T> => {
  const text = await readText(answer, what)
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw errorOfConnection(cause, what)
  }
}

const readText = async ({ body }: KubeResponse, what: string): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > bodyBytesMax) throw tooLong(what, bodyBytesMax)
      chunks.push(chunk)
    }
  } catch (thrown) {
    throw errorOfConnection(thrown, what)
  }
  return Buffer.concat(chunks).toString()
}

const tooLong = (what: string, bytesMax: number) =>
  new KubeError('invalid', { message: `${what}: the response is longer than ${bytesMax} bytes` })

async function* readWatch<T>(
  connection: Pick<KubeConnection, 'send'>,
  call: Call & { readonly signal: AbortSignal },
  opened?: () => void,
): AsyncGenerator<WatchEvent<T>> {
  const { body } = await open(connection, call)
  opened?.()
  try {
    for await (const line of readLines(body)) {
      const event = JSON.parse(line) as WatchEvent<T> | { type: 'ERROR'; object: Status }
      if (event.type === 'ERROR') throw errorOfStatus(event.object, describeCall(call))
      yield event
    }
  } catch (thrown) {
    throw errorOfConnection(thrown, describeCall(call))
  }
}

async function* readLines(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const chunk of body) {
    let from = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)]).toString()
      rest = []
      restBytes = 0
      from = end + 1
      if (line !== '') yield line
    }
    rest.push(chunk.subarray(from))
    restBytes += chunk.length - from
    if (restBytes > lineBytesMax) throw tooLong('a watch', lineBytesMax)
  }
}
