import { setTimeout as delay } from 'node:timers/promises'
import { captureErrorCodes } from '#shared/errors/catalog.ts'
import { isTerminal } from './checks/facts.ts'
import { type Exchange, isSuccess, type Operation, sha256, type Sight } from './history.ts'
import type { CaptureStatus } from './snapshot.ts'

const requestMs = 8000
/** Longer than a synchronous capture waits. */
const captureMs = 70_000
const retryMs = 400
/** Allows for the microseconds between two readings of clocks. */
const clockSlackMs = 50

type Entry = {
  id?: string
  status?: CaptureStatus
  file_size?: number
  expires_at?: string
  error?: { code: string }
}
type Body = {
  id?: string
  status?: CaptureStatus
  data?: Entry[] | (Entry & { screenshots?: Entry[]; screenshots_used?: number })
  meta?: { next_cursor: string | null }
  error?: { code: string; screenshot_id?: string }
}

/** What a request adds to its exchange. */
type Marks = Partial<Pick<Exchange, 'target' | 'idempotencyKey' | 'budgetMs' | 'webhook' | 'files' | 'link' | 'ends'>>

/** A session or a further key: its name, and the headers of its requests. */
export type Credential = { readonly name: string; readonly headers: Readonly<Record<string, string>> }

/** A request of the load. */
export type Call = Marks & {
  readonly operation: Operation
  readonly method?: string
  /** Path under the base URL, or an absolute URL. */
  readonly path: string
  readonly body?: object
  /** Instead of a key of the account. */
  readonly as?: Credential | undefined
}

/** An exchange, and the object in its response. */
export type Called = Exchange & { readonly data?: Readonly<Record<string, unknown>> | undefined }

/** An account's client, which records every exchange. */
export type Client = {
  readonly account: string
  readonly call: (call: Call) => Promise<Called>
  /** Repeats a call until it succeeds, is rejected for good or `untilMs` has passed. */
  readonly insist: (call: Call, untilMs: number) => Promise<Called>
  /** Polls a capture until it has ended, is gone, or `untilMs` has passed. */
  readonly awaitEnd: (id: string, untilMs: number) => Promise<void>
}

type Account = { readonly id: string; readonly keys: readonly string[]; readonly hasRetention?: boolean }

const sightOf = (entry: Entry, hasRetention: boolean): Sight[] => {
  if (entry.id === undefined || entry.status === undefined) return []
  const expiresMs = Date.parse(entry.expires_at ?? '') - Date.now() + performance.now() + clockSlackMs
  return [
    {
      id: entry.id,
      status: entry.status,
      fileSize: entry.file_size,
      errorCode: entry.error?.code,
      ...(hasRetention && Number.isFinite(expiresMs) && { expiresMs }),
    },
  ]
}

const entriesOf = ({ data, ...flat }: Body): Entry[] => {
  if (Array.isArray(data)) return data
  if (data?.screenshots) return data.screenshots
  return [data ?? (flat.error ? {} : flat)]
}

const readJson = (body: Body, { hasRetention = false }: Account) => {
  const { code = '', screenshot_id: id } = body.error ?? {}
  // Other errors name the id of a capture that may or may not have been accepted.
  const hasEnded = id !== undefined && (captureErrorCodes as readonly string[]).includes(code)
  const ended: Sight[] = hasEnded ? [{ id, status: 'failed', errorCode: code }] : []
  const data = Array.isArray(body.data) ? undefined : body.data
  return {
    captures: [...entriesOf(body).flatMap((entry) => sightOf(entry, hasRetention)), ...ended],
    error: body.error?.code,
    ...(body.meta && { isWhole: body.meta.next_cursor === null }),
    used: data?.screenshots_used,
    data,
  }
}

/** Operations whose image names a capture that the client did not know. */
const shows: ReadonlySet<Operation> = new Set(['capture', 'render'])
/** Operations that need no key. */
const unsigned: ReadonlySet<Operation> = new Set(['linked-image', 'render'])
/** Operations that wait for the end of a capture. */
const waits = shows

const readResponse = async (response: Response, account: Account, operation: Operation) => {
  if (operation === 'file' && response.ok)
    return { fileSha256: sha256(new Uint8Array(await response.arrayBuffer())), captures: [] }
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('image/')) {
    const text = await response.text()
    return text === '' ? { captures: [] } : readJson(JSON.parse(text) as Body, account)
  }
  const image = { imageSha256: sha256(new Uint8Array(await response.arrayBuffer())) }
  const id = response.headers.get('x-screenshot-id') ?? ''
  return { ...image, captures: shows.has(operation) ? [{ id, status: 'completed' as const }] : [] }
}

/** Creates the client of an account, which uses its keys in turn; `record` gets each exchange once it is over. */
export const createClient = (baseUrl: string, account: Account, record: (exchange: Exchange) => void): Client => {
  let calls = 0
  const authorize = (operation: Operation): Credential['headers'] => {
    calls += 1
    return unsigned.has(operation) ? {} : { authorization: `Bearer ${account.keys[calls % account.keys.length]}` }
  }
  const call = async ({ operation, method = 'GET', path, body, as, ...marks }: Call): Promise<Called> => {
    const startMs = performance.now()
    const send = async () => {
      const response = await fetch(path.startsWith('http') ? path : baseUrl + path, {
        method,
        headers: {
          ...(as?.headers ?? authorize(operation)),
          ...(body && { 'content-type': 'application/json' }),
          ...(marks.idempotencyKey !== undefined && { 'idempotency-key': marks.idempotencyKey }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(waits.has(operation) ? captureMs : requestMs),
      })
      return { status: response.status, ...(await readResponse(response, account, operation)) }
    }
    // No response, or half of one: the client cannot know what the server did.
    const response = await send().catch(() => ({ status: undefined, captures: [] as Sight[] }))
    const { data, ...rest } = { data: undefined, ...response }
    const exchange: Exchange = {
      kind: 'exchange',
      operation,
      account: account.id,
      startMs,
      endMs: performance.now(),
      ...marks,
      ...(as && { credential: as.name }),
      ...rest,
    }
    record(exchange)
    return { ...exchange, data }
  }
  const insist: Client['insist'] = async (request, untilMs) => {
    for (;;) {
      const called = await call(request)
      const isFinal = called.status !== undefined && called.status < 500 && called.status !== 429
      // A synchronous capture that failed.
      if (isFinal || called.captures.length > 0 || performance.now() > untilMs) return called
      await delay(retryMs)
    }
  }
  return {
    account: account.id,
    call,
    insist,
    awaitEnd: async (id, untilMs) => {
      for (;;) {
        const called = await call({ operation: 'status', path: `/v1/screenshots/${id}`, target: id })
        if (isSuccess(called) && called.captures.some(({ status }) => isTerminal(status))) return
        if (called.status === 404 || performance.now() > untilMs) return
        await delay(retryMs)
      }
    },
  }
}
