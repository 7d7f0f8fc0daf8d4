import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import type { Follower } from '#gateway/capture/waiters.ts'
import { commentText, eventText, type EventTexts, retryText } from './event-stream.ts'

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
