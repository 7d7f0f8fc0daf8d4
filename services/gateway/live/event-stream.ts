import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import type { Watcher } from '#gateway/queue/waiters.ts'
import type { StreamEnd } from '#gateway/telemetry/events.ts'

/** Produces the texts of a stream one at a time, only as fast as the client reads. */
export type EventTexts = (gone: AbortSignal) => AsyncGenerator<string, void>

/**
 * Creates a stream that buffers at most one text; the next is produced when the client reads. It is destroyed after `boundMs`
 * in case the client does not read. `release` is called once, as soon as the stream ends or its client disconnects, even if
 * `streamTexts` is still waiting.
 */
export const eventStream = (streamTexts: EventTexts, boundMs: number, release: () => void): Readable => {
  const gone = new AbortController()
  const texts = streamTexts(gone.signal)
  const pull = async () => {
    try {
      const { done, value } = await texts.next()
      stream.push(done === true ? null : value)
    } catch (error) {
      stream.destroy(error as Error)
    }
  }
  /** Not awaited by `destroy`: the generator returns only when its current wait ends. */
  const endTexts = async () => {
    await texts.return().catch(() => undefined)
  }
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      void pull()
    },
    destroy(error, done) {
      clearTimeout(timer)
      gone.abort()
      release()
      void endTexts()
      done(error)
    },
  })
  const timer = setTimeout(() => stream.destroy(), boundMs)
  return stream
}

/** One server-sent event. A reconnecting client sends the last `id` that it received as `Last-Event-ID`. */
export const eventText = ({
  name,
  id,
  data,
}: {
  readonly name: string
  readonly id?: string
  readonly data: object
}): string => `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

/** A comment, which clients ignore: a heartbeat, or the reason for which a stream ends. */
const commentText = (comment: string): string => `: ${comment}\n\n`

/** Sets the client's delay before it reconnects, in milliseconds. */
const retryText = (ms: number): string => `retry: ${ms}\n\n`

/** Id of the last event: a client that reconnects with it has received everything. */
export const lastId = 'result'

/** Bounds of an event stream, in milliseconds. */
export type StreamBounds = {
  /** Maximum between two reads: an event may be lost, and position changes publish none. */
  readonly pollMs: number
  /** Minimum between two reads. */
  readonly gapMs: number
  /** Maximum between two checks of what the stream was opened with, plus the time of a read. */
  readonly keyCheckMs: number
  /** Maximum between two texts. */
  readonly heartbeatMs: number
  /** Maximum duration of the stream. */
  readonly lifeMs: number
}

/** Reads once and yields the changes; returns `over` after the last event. `woken`: the read was triggered by an event, or is the first. */
export type ChangeReporter = (woken: boolean) => AsyncGenerator<string, 'over' | 'pending'>

type Dependencies = {
  readonly watcher: Pick<Watcher, 'waitForChange'>
  readonly isStopping: () => boolean
  readonly bounds: StreamBounds
  /** Whether what the stream was opened with still authorizes it. */
  readonly isAuthorized: () => Promise<boolean>
  readonly ended: (end: StreamEnd) => void
  /** A monotonic clock, in milliseconds. */
  readonly nowMs?: () => number
}

const reconnectMs = 2000

/** The last comment of a stream that ends before the capture does. */
const closingComments = {
  time: 'this stream has lasted as long as one may; connect again',
  stopping: 'this server is stopping; connect again',
} as const

/** The last event of a stream that is no longer authorized. */
const unauthorized = () => {
  const { code, publicMessage: message } = new AppError('INVALID_API_KEY')
  return eventText({ name: 'unauthorized', data: { code, message } })
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE'

/** Creates the check, which reads at most every `keyCheckMs`. While the database is unavailable the stream counts as authorized: nothing is sent then anyway. */
const createKeyCheck = ({ isAuthorized, bounds, nowMs }: Required<Dependencies>) => {
  let checkedMs = nowMs()
  return async (): Promise<boolean> => {
    if (nowMs() - checkedMs < bounds.keyCheckMs) return true
    try {
      const isValid = await isAuthorized()
      checkedMs = nowMs()
      return isValid
    } catch (error) {
      if (isUnavailable(error)) return true
      throw error
    }
  }
}

const reportChanges = async function* reportChanges(
  report: ChangeReporter,
  woken: boolean,
): AsyncGenerator<string, 'over' | 'pending'> {
  try {
    return yield* report(woken)
  } catch (error) {
    // The capture does not depend on this stream; the next read may succeed.
    if (isUnavailable(error)) return 'pending'
    throw error
  }
}

/** Yields texts, and a comment as heartbeat if nothing was yielded for `heartbeatMs`. */
const createWriter = (heartbeatMs: number) => {
  let writtenAt = performance.now()
  return {
    *write(text: string) {
      yield text
      writtenAt = performance.now()
    },
    *heartbeat() {
      if (performance.now() - writtenAt >= heartbeatMs) yield* this.write(commentText('still here'))
    },
  }
}

const streamAll = async function* streamAll(
  deps: Required<Dependencies>,
  report: ChangeReporter,
  gone: AbortSignal,
): AsyncGenerator<string, StreamEnd> {
  const { watcher, isStopping, bounds, nowMs } = deps
  const end = nowMs() + bounds.lifeMs
  const isStillAuthorized = createKeyCheck(deps)
  const writer = createWriter(bounds.heartbeatMs)
  yield* writer.write(retryText(reconnectMs))
  let woken = true
  while (!gone.aborted) {
    const texts = reportChanges(report, woken)
    for (;;) {
      if (!(await isStillAuthorized())) {
        yield unauthorized()
        return 'unauthorized'
      }
      const step = await texts.next()
      if (step.done === true && step.value === 'over') return 'over'
      if (step.done === true) break
      yield* writer.write(step.value)
    }
    const closing = isStopping() ? 'stopping' : nowMs() >= end && 'time'
    if (closing) {
      yield commentText(closingComments[closing])
      return closing
    }
    yield* writer.heartbeat()
    woken = await watcher.waitForChange(Math.min(bounds.pollMs, end - nowMs()))
    if (!gone.aborted) await delay(bounds.gapMs)
  }
  return 'gone'
}

/** Streams changes until the last event, `lifeMs`, shutdown, the end of its authorization, or the client's disconnect. */
export const streamUntilEnd = (deps: Dependencies, report: ChangeReporter): EventTexts =>
  async function* streamTexts(gone) {
    let end: StreamEnd = 'gone'
    try {
      end = yield* streamAll({ nowMs: () => performance.now(), ...deps }, report, gone)
    } finally {
      deps.ended(end)
    }
  }
