import { isLockTimeout } from '#shared/db/classify-error.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { AcceptOutcome, AcceptRequest } from './accept-capture.ts'

/** Statements that run at a time for accounts that no other transaction has locked. The requests of one key go through the same. */
const statementsMax = 2
/** Most requests of a statement, and the bytes of their sealed parts from which no further one is added. */
const requestsMax = 64
const bytesMax = 1_000_000
/** Most requests that wait for a statement, and for how long: as for a connection of the pool. */
const waitingMax = 1000
const waitMs = 5000

type Waiting = AcceptRequest & { readonly sinceMs: number } & PromiseWithResolvers<AcceptOutcome>

/** Requests that wait for the statement of those before them. */
type Line = { waiting: Waiting[]; isRunning: boolean }

type AcceptTogether = (
  requests: readonly AcceptRequest[],
  options: { readonly waits: boolean },
) => Promise<readonly (AcceptOutcome | 'locked')[]>

const createLine = (): Line => ({ waiting: [], isRunning: false })

/** The account that a session acts for, or the bytes of the key's hash. */
const callerOf = ({ capture: { accountId, keyHash } }: AcceptRequest): string =>
  accountId ?? keyHash?.toString('latin1') ?? ''

const endOfTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

const take = (waiting: Waiting[]): Waiting[] => {
  let [count, bytes] = [0, 0]
  for (const { capture } of waiting.slice(0, requestsMax)) {
    if (count > 0 && bytes + capture.sealed.length > bytesMax) break
    count += 1
    bytes += capture.sealed.length
  }
  return waiting.splice(0, count)
}

/**
 * Accepts captures, each with an outcome of its own: those that arrive while a statement runs share the next one, so that one commit and
 * one round trip serve many under load. If a statement fails, its requests are accepted one by one, so that none fails by another's
 * fault; not if its effect is unknown. While another transaction has locked an account, only requests of its keys wait. Rejects with
 * `SERVICE_UNAVAILABLE`, without an effect, what has waited for a statement for five seconds.
 */
export class AcceptQueue {
  readonly #acceptTogether: AcceptTogether
  readonly #nowMs: () => number
  readonly #lines = Array.from({ length: statementsMax }, createLine)
  /** Lines of callers whose account was locked. */
  readonly #locked = new Map<string, Line>()

  constructor(acceptTogether: AcceptTogether, nowMs: () => number = () => performance.now()) {
    this.#acceptTogether = acceptTogether
    this.#nowMs = nowMs
  }

  /** Rejects as `acceptCapture` does. */
  accept(request: AcceptRequest): Promise<AcceptOutcome> {
    const waiting = { ...request, sinceMs: this.#nowMs(), ...Promise.withResolvers<AcceptOutcome>() }
    const free = this.#lines[(request.capture.keyHash?.[0] ?? 0) % statementsMax]
    if (this.#locked.has(callerOf(request)) || !free) this.#waitForLock(waiting)
    else if (this.#join(free, waiting)) void this.#run(free, false)
    return waiting.promise
  }

  #join({ waiting }: Line, request: Waiting): boolean {
    if (waiting.length < waitingMax) return waiting.push(request) > 0
    request.reject(new AppError('SERVICE_UNAVAILABLE', { message: `${waitingMax} accepts wait for PostgreSQL` }))
    return false
  }

  #waitForLock(request: Waiting): void {
    const caller = callerOf(request)
    const line = this.#locked.get(caller) ?? createLine()
    if (!this.#join(line, request) || line.isRunning) return
    this.#locked.set(caller, line)
    void this.#run(line, true).then(() => this.#locked.delete(caller))
  }

  async #run(line: Line, waits: boolean): Promise<void> {
    if (line.isRunning) return
    line.isRunning = true
    // Requests of the same turn share the statement.
    await endOfTurn()
    while (line.waiting.length > 0) {
      const batch = take(line.waiting).filter((request) => this.#isInTime(request))
      for (const request of await this.#serve(batch, waits)) this.#waitForLock({ ...request, sinceMs: this.#nowMs() })
    }
    line.isRunning = false
  }

  #isInTime({ sinceMs, reject }: Waiting): boolean {
    if (this.#nowMs() - sinceMs <= waitMs) return true
    reject(new AppError('SERVICE_UNAVAILABLE', { message: `an accept has waited for PostgreSQL for ${waitMs} ms` }))
    return false
  }

  /** Returns those whose account was locked. */
  async #serve(batch: readonly Waiting[], waits: boolean): Promise<readonly Waiting[]> {
    if (batch.length === 0) return []
    try {
      const outcomes = await this.#acceptTogether(batch, { waits })
      return batch.filter((request, index) => {
        const outcome = outcomes[index]
        if (outcome === undefined || outcome === 'locked') return true
        request.resolve(outcome)
        return false
      })
    } catch (error) {
      // An account was free, but something of it was not.
      if (!waits && isLockTimeout(error)) return batch
      const isUnknown = error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE'
      if (batch.length === 1 || isUnknown) {
        for (const { reject } of batch) reject(error)
        return []
      }
    }
    const left: Waiting[] = []
    for (const request of batch) left.push(...(await this.#serve([request], waits)))
    return left
  }
}
