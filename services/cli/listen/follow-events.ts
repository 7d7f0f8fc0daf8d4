import { type HttpInterface, send } from '#cli/http/http-interface.ts'
import { toWebhookRecord } from '#shared/db/record.ts'

const perPage = 100
/** Pages of one poll: 2,000 captures. */
const pagesMax = 20
/** A capture may appear in the list after one that was created later, by the duration of its transaction. */
const overlapMs = 10_000
const announcedMax = 1000

/** The events that are followed. */
export const followedEvents = ['screenshot.completed', 'screenshot.failed', 'batch.completed'] as const

/** An event as webhooks carry it. */
export type FollowedEvent = {
  readonly event: (typeof followedEvents)[number]
  readonly data: Readonly<Record<string, unknown>>
}

type ListedCapture = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly status: 'pending' | 'processing' | 'completed' | 'failed'
  readonly created_at: string
  readonly batch_id?: string
}
type Page = { readonly data: readonly ListedCapture[]; readonly meta: { readonly next_cursor: string | null } }
type Batch = Readonly<Record<string, unknown>> & { readonly status: string }

const hasEnded = ({ status }: ListedCapture) => status === 'completed' || status === 'failed'

/** The creation time of a capture, moved by milliseconds. */
const shifted = (record: ListedCapture | undefined, ms: number): string | undefined =>
  record && new Date(Date.parse(record.created_at) + ms).toISOString()

const batchFields = ['id', 'status', 'total', 'completed', 'failed', 'created_at'] as const

/** Finds the captures and batches of an account that end, by reading the list of captures from the oldest that has not ended. */
export class EventFollower {
  readonly #at: HttpInterface
  #from: string | undefined
  /** The captures of the last poll that had ended. */
  #ended: ReadonlySet<string> = new Set()
  #isFirst = true
  readonly #announcedBatches = new Set<string>()
  /** Requests that the account may make in a minute, as of the last response; undefined if unlimited. */
  #perMinute: number | undefined

  constructor(at: HttpInterface) {
    this.#at = at
  }

  /** The requests of a minute that the account may make; undefined if they are not limited, or before the first poll. */
  get perMinute(): number | undefined {
    return this.#perMinute
  }

  /** Returns the events since the last poll, oldest capture first; of the first poll none. Throws as `send`. */
  async poll(): Promise<FollowedEvent[]> {
    const { records, isCut } = await this.#read()
    const ended = records.filter(hasEnded)
    const fresh = this.#isFirst ? [] : ended.filter(({ id }) => !this.#ended.has(id)).toReversed()
    const batches = await this.#endedBatches(fresh)
    // Only now, so that a poll that failed is repeated as a whole.
    this.#isFirst = false
    this.#ended = new Set(ended.map(({ id }) => id))
    const oldest = records.findLast((record) => !hasEnded(record)) ?? records[0]
    // Never before what this poll has read, or captures that ended before would be taken for new ones.
    const bounds = [this.#from, isCut ? shifted(records.at(-1), 1) : undefined, shifted(oldest, -overlapMs)].filter(
      (time) => time !== undefined,
    )
    this.#from = bounds.toSorted().at(-1)
    const captures = fresh.map((record) => ({
      event: record.status === 'completed' ? ('screenshot.completed' as const) : ('screenshot.failed' as const),
      data: toWebhookRecord(record),
    }))
    return [...captures, ...batches]
  }

  async #get<T>(path: string): Promise<T> {
    const response = await send(this.#at, { method: 'GET', path })
    const limit = Number(response.headers.get('x-ratelimit-limit') ?? Number.NaN)
    this.#perMinute = limit > 0 ? limit : undefined
    return (await response.json()) as T
  }

  /** The captures from `#from`, newest first; of the first poll one page. */
  async #read(): Promise<{ readonly records: readonly ListedCapture[]; readonly isCut: boolean }> {
    const records: ListedCapture[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < (this.#isFirst ? 1 : pagesMax); pages += 1) {
      const query = new URLSearchParams({
        per_page: String(perPage),
        ...(this.#from !== undefined && { from: this.#from }),
        ...(cursor !== null && { cursor }),
      })
      const page: Page = await this.#get<Page>(`/screenshots?${query.toString()}`)
      records.push(...page.data)
      cursor = page.meta.next_cursor
      if (cursor === null) break
    }
    return { records, isCut: cursor !== null }
  }

  async #endedBatches(fresh: readonly ListedCapture[]): Promise<FollowedEvent[]> {
    const ids = new Set(
      fresh.flatMap(({ batch_id: id }) => (id === undefined || this.#announcedBatches.has(id) ? [] : [id])),
    )
    const events: FollowedEvent[] = []
    for (const id of ids) {
      const { data } = await this.#get<{ data: Batch }>(`/screenshots/batch/${id}`)
      if (data.status !== 'completed') continue
      this.#announcedBatches.add(id)
      events.push({ event: 'batch.completed', data: Object.fromEntries(batchFields.map((name) => [name, data[name]])) })
    }
    for (const id of this.#announcedBatches)
      if (this.#announcedBatches.size > announcedMax) this.#announcedBatches.delete(id)
    return events
  }
}
