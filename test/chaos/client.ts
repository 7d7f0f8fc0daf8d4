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
  data?: Entry[] | (Entry & { screenshots?: Entry[]; url?: string; screenshots_used?: number })
  meta?: { next_cursor: string | null }
  error?: { code: string; screenshot_id?: string }
}

/** What a request adds to its exchange. */
type Marks = Partial<Pick<Exchange, 'target' | 'idempotencyKey' | 'budgetMs' | 'webhook'>>

/** A request of the load. */
export type Call = Marks & {
  readonly operation: Operation
  readonly method?: string
  /** Path under the base URL, or an absolute URL. */
  readonly path: string
  readonly body?: object
}

/** An exchange, and the URL of a created link. */
export type Called = Exchange & { readonly url?: string | undefined }

/** An account's client, which records every exchange. */
export type Client = {
  readonly account: string
  readonly call: (call: Call) => Promise<Called>
  /** Repeats a call until it succeeds, is rejected for good or `untilMs` has passed. */
  readonly insist: (call: Call, untilMs: number) => Promise<Called>
  /** Polls a capture until it has ended, is gone, or `untilMs` has passed. */
  readonly awaitEnd: (id: string, untilMs: number) => Promise<void>
}

type Account = { readonly id: string; readonly key: string; readonly hasRetention?: boolean }

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
    url: data?.url,
  }
}

const readResponse = async (response: Response, account: Account, operation: Operation) => {
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('image/')) {
    const text = await response.text()
    return text === '' ? { captures: [] } : readJson(JSON.parse(text) as Body, account)
  }
  const image = { imageSha256: sha256(new Uint8Array(await response.arrayBuffer())) }
  const id = response.headers.get('x-screenshot-id') ?? ''
  return { ...image, captures: operation === 'capture' ? [{ id, status: 'completed' as const }] : [] }
}

/** Creates the client of an account; `record` gets each exchange once it is over. */
export const createClient = (baseUrl: string, account: Account, record: (exchange: Exchange) => void): Client => {
  const call = async ({ operation, method = 'GET', path, body, ...marks }: Call): Promise<Called> => {
    const startMs = performance.now()
    const send = async () => {
      const response = await fetch(path.startsWith('http') ? path : baseUrl + path, {
        method,
        headers: {
          ...(operation !== 'linked-image' && { authorization: `Bearer ${account.key}` }),
          ...(body && { 'content-type': 'application/json' }),
          ...(marks.idempotencyKey !== undefined && { 'idempotency-key': marks.idempotencyKey }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(operation === 'capture' ? captureMs : requestMs),
      })
      return { status: response.status, ...(await readResponse(response, account, operation)) }
    }
    // No response, or half of one: the client cannot know what the server did.
    const response = await send().catch(() => ({ status: undefined, captures: [] as Sight[] }))
    const { url, ...rest } = { url: undefined, ...response }
    const exchange: Exchange = {
      kind: 'exchange',
      operation,
      account: account.id,
      startMs,
      endMs: performance.now(),
      ...marks,
      ...rest,
    }
    record(exchange)
    return { ...exchange, url }
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
