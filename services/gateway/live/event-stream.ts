import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import type { Follower } from '#gateway/capture/waiters.ts'

/** What a stream is made of: texts, produced one at a time and only while the client takes them. */
export type EventTexts = (gone: AbortSignal) => AsyncGenerator<string, void>

/**
 * Makes a stream of texts that never holds more than one of them: what changes meanwhile is read when the client takes it. It is
 * broken off after `boundMs`, for a client that takes nothing. `release` is called once, as soon as the stream has ended
 * or its client is gone, whatever `streamTexts` still waits for.
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
  /** Whatever it still waits for ends soon; nobody waits for its result. */
  const leave = async () => {
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
      void leave()
      done(error)
    },
  })
  const timer = setTimeout(() => stream.destroy(), boundMs)
  return stream
}

/** One event as the standard's text. `id` comes back as `Last-Event-ID` where a client connects again; without one the id of the event before does. */
export const eventText = ({
  name,
  id,
  data,
}: {
  readonly name: string
  readonly id?: string
  readonly data: object
}): string => `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

/** A line that clients skip: it keeps the connection alive, or explains to people why a stream ends. */
const commentText = (comment: string): string => `: ${comment}\n\n`

/** How long a client waits before it connects again, in milliseconds. */
const retryText = (ms: number): string => `retry: ${ms}\n\n`

/** Id of the last event: a client that has seen it and connects again has seen all of it. */
export const lastId = 'result'

/** Bounds of a stream of events, in milliseconds. */
export type StreamBounds = {
  /** Most between two reads: an event may be lost, and the place in the queue has no events. */
  readonly lookMs: number
  /** Least between two reads. */
  readonly gapMs: number
  /** Most between two checks of the key, but for the time of a read. */
  readonly keyCheckMs: number
  /** Most without a text. */
  readonly heartbeatMs: number
  /** Most in all. */
  readonly lifeMs: number
}

/** Reads once and yields what is new; returns `over` once the end was sent. `woken`: an event came for it, or it is the first read. */
export type ChangeReporter = (woken: boolean) => AsyncGenerator<string, 'over' | 'goes-on'>

/** Why a stream ended. */
export type StreamEnd = 'over' | 'time' | 'stopping' | 'unauthorized' | 'gone'

type Dependencies = {
  readonly follower: Pick<Follower, 'waitForChange'>
  readonly isStopping: () => boolean
  readonly bounds: StreamBounds
  /** Whether the key that opened the stream is still valid. */
  readonly isAuthorized: () => Promise<boolean>
  readonly ended: (end: StreamEnd) => void
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs?: () => number
}

const reconnectMs = 2000

/** The last comment of a stream that ends before the capture does. */
const closingComments = {
  time: 'this stream has lasted as long as one may; connect again',
  stopping: 'this server is stopping; connect again',
} as const

/** The last event of a stream whose key is no longer valid. */
const unauthorized = () => {
  const { code, publicMessage: message } = new AppError('INVALID_API_KEY')
  return eventText({ name: 'unauthorized', data: { code, message } })
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE'

/** Makes the check of the key, which reads no more often than every `keyCheckMs`. While the database does not answer there is nothing to send either. */
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
): AsyncGenerator<string, 'over' | 'goes-on'> {
  try {
    return yield* report(woken)
  } catch (error) {
    // The capture goes on without us; the next read may find the database back.
    if (isUnavailable(error)) return 'goes-on'
    throw error
  }
}

/** Writes texts, and a comment as heartbeat where nothing was written for `heartbeatMs`. */
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
  const { follower, isStopping, bounds, nowMs } = deps
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
    woken = await follower.waitForChange(Math.min(bounds.lookMs, end - nowMs()))
    if (!gone.aborted) await pause(bounds.gapMs)
  }
  return 'gone'
}

/** Streams what is new until the end was sent, the time is over, the gateway stops, or the client has gone. */
export const streamUntilEnd = (deps: Dependencies, report: ChangeReporter): EventTexts =>
  async function* streamTexts(gone) {
    let end: StreamEnd = 'gone'
    try {
      end = yield* streamAll({ nowMs: () => performance.now(), ...deps }, report, gone)
    } finally {
      deps.ended(end)
    }
  }
