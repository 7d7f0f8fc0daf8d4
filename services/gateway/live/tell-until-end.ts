import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import type { Follower } from '#gateway/wait/waiters.ts'
import { commentText, eventText, retryText } from './event-text.ts'
import type { Telling } from './event-stream.ts'

/** Bounds of a stream of events, in milliseconds. */
export type StreamBounds = {
  /** Most between two looks: an event may be lost, and the place in the queue has no events. */
  readonly lookMs: number
  /** Least between two looks. */
  readonly gapMs: number
  /** Most between two checks of the key, but for the time of a look. */
  readonly keyCheckMs: number
  /** Most without a text. */
  readonly heartbeatMs: number
  /** Most in all. */
  readonly lifeMs: number
}

/** Looks once and yields what is new; answers whether the end has been told. `woken`: something was said of it, or it is the first look. */
export type Tell = (woken: boolean) => AsyncGenerator<string, 'over' | 'goes-on'>

/** Why a stream ended. */
export type StreamEnd = 'over' | 'time' | 'stopping' | 'unauthorized' | 'gone'

type Dependencies = {
  readonly follower: Pick<Follower, 'news'>
  readonly isStopping: () => boolean
  readonly bounds: StreamBounds
  /** Whether the key that opened the stream is still valid. */
  readonly isAuthorized: () => Promise<boolean>
  readonly ended: (end: StreamEnd) => void
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs?: () => number
}

const reconnectMs = 2000

/** What has to be said before a stream ends that has not told the end. */
const farewells = {
  time: 'this stream has lasted as long as one may; connect again',
  stopping: 'this server is stopping; connect again',
} as const

/** The last event of a stream whose key is no longer valid. */
const unauthorized = () => {
  const { code, publicMessage: message } = new AppError('INVALID_API_KEY')
  return eventText({ name: 'unauthorized', data: { code, message } })
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE'

/** Makes the check of the key, which asks no more often than it must. While the database does not answer there is nothing to send either. */
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

const tellNews = async function* tellNews(tell: Tell, woken: boolean): AsyncGenerator<string, 'over' | 'goes-on'> {
  try {
    return yield* tell(woken)
  } catch (error) {
    // The capture goes on without us; the next look may find the database back.
    if (isUnavailable(error)) return 'goes-on'
    throw error
  }
}

/** Notes when something was said, and says that the stream is alive where nothing was for too long. */
const createVoice = (heartbeatMs: number) => {
  let spokenAt = performance.now()
  return {
    *say(text: string) {
      yield text
      spokenAt = performance.now()
    },
    *beat() {
      if (performance.now() - spokenAt >= heartbeatMs) yield* this.say(commentText('still here'))
    },
  }
}

const tellAll = async function* tellAll(
  deps: Required<Dependencies>,
  tell: Tell,
  gone: AbortSignal,
): AsyncGenerator<string, StreamEnd> {
  const { follower, isStopping, bounds, nowMs } = deps
  const end = nowMs() + bounds.lifeMs
  const isStillAuthorized = createKeyCheck(deps)
  const voice = createVoice(bounds.heartbeatMs)
  yield* voice.say(retryText(reconnectMs))
  let woken = true
  while (!gone.aborted) {
    const news = tellNews(tell, woken)
    for (;;) {
      if (!(await isStillAuthorized())) {
        yield unauthorized()
        return 'unauthorized'
      }
      const step = await news.next()
      if (step.done === true && step.value === 'over') return 'over'
      if (step.done === true) break
      yield* voice.say(step.value)
    }
    const farewell = isStopping() ? 'stopping' : nowMs() >= end && 'time'
    if (farewell) {
      yield commentText(farewells[farewell])
      return farewell
    }
    yield* voice.beat()
    woken = await follower.news(Math.min(bounds.lookMs, end - nowMs()))
    if (!gone.aborted) await pause(bounds.gapMs)
  }
  return 'gone'
}

/** Tells what is new until the end has been told, the time is over, the gateway stops, or the client has gone. */
export const tellUntilEnd = (deps: Dependencies, tell: Tell): Telling =>
  async function* telling(gone) {
    let end: StreamEnd = 'gone'
    try {
      end = yield* tellAll({ nowMs: () => performance.now(), ...deps }, tell, gone)
    } finally {
      deps.ended(end)
    }
  }
