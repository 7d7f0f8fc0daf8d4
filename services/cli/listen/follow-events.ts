import type { Batch, Screenshot, Shutterfleet } from '#client/shutterfleet.js'
import { toWebhookRecord } from '#shared/db/record.ts'

const perPage = 100
/** Captures of one read of the list. */
const readMax = 2000
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

const hasEnded = ({ status }: Screenshot) => status === 'completed' || status === 'failed'

/** The creation time of a capture, moved by milliseconds. */
const shifted = (record: Screenshot | undefined, ms: number): string | undefined =>
  record && new Date(Date.parse(record.created_at) + ms).toISOString()

const toEvent = (record: Screenshot): FollowedEvent => ({
  event: record.status === 'completed' ? 'screenshot.completed' : 'screenshot.failed',
  data: toWebhookRecord({ ...record }),
})

const toBatchEvent = ({ id, status, total, completed, failed, created_at }: Batch): FollowedEvent => ({
  event: 'batch.completed',
  data: { id, status, total, completed, failed, created_at },
})

/**
 * Finds the captures and batches of an account that end: by its event stream, and where that leaves out which captures have changed,
 * by the list of captures from the oldest that had not ended.
 */
export class EventFollower {
  readonly #client: Pick<Shutterfleet, 'accountEvents' | 'batchStatus' | 'list'>
  readonly #stop: AbortSignal
  #from: string | undefined
  /** The captures since `#from` that are known to have ended. */
  #ended = new Set<string>()
  #isFirst = true
  readonly #announcedBatches = new Set<string>()

  constructor(client: Pick<Shutterfleet, 'accountEvents' | 'batchStatus' | 'list'>, stop: AbortSignal) {
    this.#client = client
    this.#stop = stop
  }

  /** Yields the new events, oldest capture first, whenever the service reports a change; a later call goes on where this one failed. */
  async *read(): AsyncGenerator<readonly FollowedEvent[], void> {
    for await (const { event, data } of this.#client.accountEvents({ signal: this.#stop })) {
      if (event === 'ready' || event === 'changed') yield await this.#readList()
      if (event === 'ended') yield await this.#announce([data])
    }
  }

  /** The events since the last read of the list; none of the first. */
  async #readList(): Promise<FollowedEvent[]> {
    const max = this.#isFirst ? perPage : readMax
    const records: Screenshot[] = []
    const filter = { perPage, signal: this.#stop, ...(this.#from !== undefined && { from: this.#from }) }
    for await (const record of this.#client.list(filter)) if (records.push(record) === max) break
    const ended = records.filter(hasEnded)
    const events = this.#isFirst ? [] : await this.#announce(ended.toReversed())
    // Only now, so that a read that failed is repeated as a whole.
    this.#isFirst = false
    this.#ended = new Set(ended.map(({ id }) => id))
    const oldest = records.findLast((record) => !hasEnded(record)) ?? records[0]
    // Never before what was read, or captures that ended before would be taken for new ones.
    const readFrom = records.length === max ? shifted(records.at(-1), 1) : undefined
    const bounds = [this.#from, readFrom, shifted(oldest, -overlapMs)].filter((time) => time !== undefined)
    this.#from = bounds.toSorted().at(-1)
    return events
  }

  /** The events of those of the captures that were not known to have ended, and of the batches that end with them. */
  async #announce(ended: readonly Screenshot[]): Promise<FollowedEvent[]> {
    const fresh = ended.filter(({ id }) => !this.#ended.has(id))
    const events = [...fresh.map(toEvent), ...(await this.#endedBatches(fresh))]
    for (const { id } of fresh) this.#ended.add(id)
    return events
  }

  async #endedBatches(fresh: readonly Screenshot[]): Promise<FollowedEvent[]> {
    const ids = new Set(
      fresh.flatMap(({ batch_id: id }) => (id === undefined || this.#announcedBatches.has(id) ? [] : [id])),
    )
    const events: FollowedEvent[] = []
    for (const id of ids) {
      const batch = await this.#client.batchStatus(id, { signal: this.#stop })
      if (batch.status !== 'completed') continue
      this.#announcedBatches.add(id)
      events.push(toBatchEvent(batch))
    }
    for (const id of this.#announcedBatches)
      if (this.#announcedBatches.size > announcedMax) this.#announcedBatches.delete(id)
    return events
  }
}
