import { randomBytes } from 'node:crypto'
import { toAppError } from '#shared/errors/app-error.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import { type Clock, microTime } from './clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { objectName, reportingController } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'

/** Something that happened to an object, to be shown among the object's Kubernetes events. */
export type Occurrence = {
  readonly regarding: { readonly resource: Resource; readonly object: KubeObject }
  readonly type: 'Normal' | 'Warning'
  /** Why, in one word of a fixed set: `ScaledUp`. */
  readonly reason: string
  /** What was being done, in one word of a fixed set. Occurrences that must not be merged as repeats differ here. */
  readonly action: string
  /** For people; cut after 1000 characters. Of repeats within half a minute, only the newest is kept. */
  readonly note: string
}

type RecorderDeps = {
  readonly api: Pick<KubeApi, 'create' | 'patch'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

/** Repeats that one event counts. */
type Series = {
  readonly namespace: string
  readonly name: string
  /** The event's note, which later requests cannot change. */
  readonly note: string
  newest: Occurrence
  count: number
  /** The count that was last written to the event. */
  written: number
  lastMs: number
}

const events: Resource = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' }
/** A repeat after a pause of this length becomes a new event (as in client-go). */
const seriesMs = 360_000
const seriesMax = 1000
/** Repeats are counted for this long and written together. */
const gatherMs = 30_000
const noteCharsMax = 1000
const burst = 25
const perSecond = 1
const waitingMax = 50
const flushMs = 2000

/**
 * Writes events about objects. Repeats of (object, reason, action) become one event with a count; if the newest has another note,
 * the repeats of half a minute become another event. Writes bursts of at most 25 events and one per second, drops the others, and
 * never throws.
 */
export class Recorder implements AsyncDisposable {
  readonly #deps: RecorderDeps
  readonly #instance: string
  readonly #series = new Map<string, Series>()
  readonly #stop = new AbortController()
  #gathering: Disposable | undefined
  #waiting = 0
  #sending: Promise<void> = Promise.resolve()
  #tokens = burst
  #filledAtMs: number
  #isDropping = false

  /** `instance` names this process in the events, in at most 128 characters. */
  constructor(deps: RecorderDeps, instance: string) {
    this.#deps = deps
    this.#instance = instance
    this.#filledAtMs = deps.clock.nowMs()
  }

  /** Queues an occurrence to be written. Does nothing once disposed. */
  record(occurrence: Occurrence): void {
    if (this.#stop.signal.aborted) return
    const key = keyOfSeries(occurrence)
    const nowMs = this.#deps.clock.nowMs()
    const series = this.#series.get(key)
    if (!series || nowMs - series.lastMs >= seriesMs) {
      this.#begin(key, occurrence, 1)
      return
    }
    series.count += 1
    series.lastMs = nowMs
    series.newest = occurrence
    this.#gathering ??= this.#deps.clock.after(gatherMs, () => this.#writeCounts())
  }

  /** Writes the counts that are left, for at most 2 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#writeCounts()
    using _timer = this.#deps.clock.after(flushMs, () => this.#stop.abort())
    await this.#sending
    this.#stop.abort()
  }

  /** Starts an event for `count` occurrences, of which `occurrence` is the newest. */
  #begin(key: string, occurrence: Occurrence, count: number) {
    const { regarding, type, reason, action, note } = occurrence
    const { resource, object } = regarding
    const { namespace, name = '', uid, resourceVersion } = object.metadata ?? {}
    const { apiVersion, kind } = resource
    const series = {
      namespace: namespace ?? 'default',
      name: `${objectName(name)}.${randomBytes(8).toString('hex')}`,
      note,
      newest: occurrence,
      count,
      written: count,
      lastMs: this.#deps.clock.nowMs(),
    }
    const now = microTime(this.#deps.clock.date())
    const event = {
      apiVersion: events.apiVersion,
      kind: events.kind,
      metadata: { name: series.name, namespace: series.namespace },
      eventTime: now,
      reportingController,
      reportingInstance: this.#instance,
      regarding: { apiVersion, kind, namespace, name, uid, resourceVersion },
      type,
      reason,
      action,
      note: note.slice(0, noteCharsMax),
      ...(count > 1 && { series: { count, lastObservedTime: now } }),
    }
    const isQueued = this.#send(key, async (signal) => {
      await this.#deps.api.create({ resource: events, namespace: series.namespace }, event, { signal })
    })
    if (isQueued) this.#remember(key, series)
  }

  #remember(key: string, series: Series) {
    this.#series.delete(key)
    this.#series.set(key, series)
    if (this.#series.size <= seriesMax) return
    const [oldest = ''] = this.#series.keys()
    this.#series.delete(oldest)
  }

  #writeCounts() {
    this.#gathering?.[Symbol.dispose]()
    this.#gathering = undefined
    for (const [key, series] of this.#series) {
      const { namespace, name, count, written, newest } = series
      if (count === written) continue
      if (newest.note !== series.note) {
        this.#begin(key, newest, count - written)
        continue
      }
      const body = { series: { count, lastObservedTime: microTime(this.#deps.clock.date()) } }
      const isQueued = this.#send(key, async (signal) => {
        await this.#deps.api.patch({ resource: events, namespace, name }, { kind: 'merge', body }, signal)
      })
      if (isQueued) series.written = count
    }
  }

  /** Queues a request; one is sent at a time. After a failure, the next repeat of the series starts a new event. */
  #send(key: string, send: (signal: AbortSignal) => Promise<void>): boolean {
    if (!this.#maySend()) return false
    this.#waiting += 1
    const run = async () => {
      try {
        if (!this.#stop.signal.aborted) await send(this.#stop.signal)
      } catch (thrown) {
        this.#series.delete(key)
        const { message } = toAppError(thrown)
        this.#deps.log.warn({ error: message, outcome: outcomeOf(thrown) }, 'an event could not be written')
      } finally {
        this.#waiting -= 1
      }
    }
    this.#sending = this.#sending.then(run)
    return true
  }

  #maySend(): boolean {
    const nowMs = this.#deps.clock.nowMs()
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#filledAtMs) / 1000) * perSecond)
    this.#filledAtMs = nowMs
    if (this.#tokens < 1 || this.#waiting >= waitingMax) {
      if (!this.#isDropping) this.#deps.log.warn('too many events: some are dropped')
      this.#isDropping = true
      return false
    }
    if (this.#tokens === burst) this.#isDropping = false
    this.#tokens -= 1
    return true
  }
}

const keyOfSeries = ({ regarding: { resource, object }, type, reason, action }: Occurrence): string => {
  const { namespace, name, uid } = object.metadata ?? {}
  return JSON.stringify([resource.apiVersion, resource.kind, namespace, name, uid, type, reason, action])
}
