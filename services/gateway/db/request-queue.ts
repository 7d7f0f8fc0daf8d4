import { setTimeout as delay } from 'node:timers/promises'
import { isLockTimeout } from '#shared/db/classify-error.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { LockWaits } from './lock-waits.ts'
import type { RequestIdentity } from './refusal-cache.ts'

/** Statements that run at a time for accounts that no other transaction has locked. The requests of one key go through the same. */
const statementsMax = 2
/** Most requests of a statement, and the bytes of their sealed parts from which no further one is added. */
const requestsMax = 64
const bytesMax = 1_000_000
/** Most requests that wait for a statement, and for how long: as for a connection of the pool. */
const waitingMax = 1000
const waitMs = 5000
/** Time between two tries of the requests for whose locked accounts no statement may wait. */
const retryMs = 50

type Waiting<Request, Outcome> = { readonly request: Request; readonly sinceMs: number } & PromiseWithResolvers<Outcome>

/** Requests that wait for the statement of those before them. */
type Line<Request, Outcome> = { waiting: Waiting<Request, Outcome>[]; isRunning: boolean }

/** Serves requests in one statement: their outcomes in the order of the requests; `locked` without `waits`. */
type ServeTogether<Request, Outcome> = (
  requests: readonly Request[],
  options: { readonly waits: boolean },
) => Promise<readonly (Outcome | 'locked')[]>

/** What the queue knows of a request: whose it is, and how large. */
type Options<Request> = {
  /** Shared by the queues of a pool. */
  readonly lockWaits: Pick<LockWaits, 'take'>
  readonly identityOf: (request: Request) => Pick<RequestIdentity, 'accountId'> & { readonly keyHash: Buffer | null }
  readonly bytesOf?: (request: Request) => number
  /** Monotonic. */
  readonly nowMs?: () => number
}

const createLine = () => ({ waiting: [], isRunning: false })

const endOfTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Serves requests that lock their account, each with an outcome of its own: those that arrive while a statement runs share the next one,
 * so that one commit and one round trip serve many under load. If a statement fails, its requests are served one by one, so that none
 * fails by another's fault; not if its effect is unknown. While another transaction has locked an account, only requests of its keys
 * wait: in a statement of their own, of which `lockWaits` bounds the number; beyond it they are tried again, together, without waiting. Rejects with `SERVICE_UNAVAILABLE`, without an effect, what has waited for a statement for five seconds.
 */
export class RequestQueue<Request, Outcome> {
  readonly #serveTogether: ServeTogether<Request, Outcome>
  readonly #options: Required<Options<Request>>
  readonly #lines: Line<Request, Outcome>[] = Array.from({ length: statementsMax }, createLine)
  /** Lines of callers whose account was locked. */
  readonly #locked = new Map<string, Line<Request, Outcome>>()
  /** Requests of locked accounts for which no statement may wait now. */
  readonly #retried: Line<Request, Outcome> = createLine()

  constructor(serveTogether: ServeTogether<Request, Outcome>, options: Options<Request>) {
    this.#serveTogether = serveTogether
    this.#options = { bytesOf: () => 0, nowMs: () => performance.now(), ...options }
  }

  /** Rejects as the statement does. */
  serve(request: Request): Promise<Outcome> {
    const waiting = { request, sinceMs: this.#options.nowMs(), ...Promise.withResolvers<Outcome>() }
    const free = this.#lines[(this.#options.identityOf(request).keyHash?.[0] ?? 0) % statementsMax]
    if (this.#locked.has(this.#callerOf(request)) || !free) this.#waitForLock(waiting)
    else if (this.#join(free, waiting)) void this.#run(free, false)
    return waiting.promise
  }

  /** The account that a session acts for, or the bytes of the key's hash. */
  #callerOf(request: Request): string {
    const { accountId, keyHash } = this.#options.identityOf(request)
    return accountId ?? keyHash?.toString('latin1') ?? ''
  }

  #join({ waiting }: Line<Request, Outcome>, request: Waiting<Request, Outcome>): boolean {
    if (waiting.length < waitingMax) return waiting.push(request) > 0
    request.reject(new AppError('SERVICE_UNAVAILABLE', { message: `${waitingMax} requests wait for PostgreSQL` }))
    return false
  }

  #waitForLock(waiting: Waiting<Request, Outcome>): void {
    const caller = this.#callerOf(waiting.request)
    const running = this.#locked.get(caller)
    const permit = running ? undefined : this.#options.lockWaits.take(caller)
    const line = running ?? (permit ? createLine() : this.#retried)
    if (!this.#join(line, waiting) || running) return
    if (!permit) return void this.#run(line, false)
    this.#locked.set(caller, line)
    void this.#run(line, true, () => {
      this.#locked.delete(caller)
      permit[Symbol.dispose]()
    })
  }

  #take(waiting: Waiting<Request, Outcome>[]): Waiting<Request, Outcome>[] {
    let [count, bytes] = [0, 0]
    for (const { request } of waiting.slice(0, requestsMax)) {
      bytes += this.#options.bytesOf(request)
      if (count > 0 && bytes > bytesMax) break
      count += 1
    }
    return waiting.splice(0, count).filter((each) => this.#isInTime(each))
  }

  /** `ended` is called in the turn in which the line becomes idle, so that no request joins it in between. */
  async #run(line: Line<Request, Outcome>, waits: boolean, ended = () => {}): Promise<void> {
    if (line.isRunning) return
    line.isRunning = true
    const isRetry = line === this.#retried
    // Requests of the same turn share the statement.
    await endOfTurn()
    while (line.waiting.length > 0) {
      if (isRetry) await delay(retryMs)
      for (const locked of await this.#serveBatch(this.#take(line.waiting), waits))
        this.#waitForLock(isRetry ? locked : { ...locked, sinceMs: this.#options.nowMs() })
    }
    line.isRunning = false
    ended()
  }

  #isInTime({ sinceMs, reject }: Waiting<Request, Outcome>): boolean {
    if (this.#options.nowMs() - sinceMs <= waitMs) return true
    reject(new AppError('SERVICE_UNAVAILABLE', { message: `a request has waited for PostgreSQL for ${waitMs} ms` }))
    return false
  }

  /** Returns those whose account was locked. */
  async #serveBatch(
    batch: readonly Waiting<Request, Outcome>[],
    waits: boolean,
  ): Promise<readonly Waiting<Request, Outcome>[]> {
    if (batch.length === 0) return []
    try {
      const outcomes = await this.#serveTogether(
        batch.map(({ request }) => request),
        { waits },
      )
      return batch.filter(({ resolve }, index) => {
        const outcome = outcomes[index]
        if (outcome === undefined || outcome === 'locked') return true
        resolve(outcome)
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
    const left: Waiting<Request, Outcome>[] = []
    for (const each of batch) left.push(...(await this.#serveBatch([each], waits)))
    return left
  }
}
