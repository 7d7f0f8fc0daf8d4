import { AppError } from '#shared/errors/app-error.ts'
import type { AcceptOutcome, AcceptRequest } from './accept-capture.ts'

/** Statements that run at a time for accounts that no other transaction has locked. The requests of one key go through the same. */
const statementsMax = 4
/** Most requests of a statement, and the bytes of their sealed parts from which no further one is added. */
const requestsMax = 64
const bytesMax = 1_000_000

type Waiting = AcceptRequest & { readonly keyName: string } & PromiseWithResolvers<AcceptOutcome>

/** Requests that wait for the statement of those before them. */
type Line = { waiting: Waiting[]; isRunning: boolean }

type AcceptTogether = (
  requests: readonly AcceptRequest[],
  options: { readonly waits: boolean },
) => Promise<readonly (AcceptOutcome | 'locked')[]>

/** See `createAcceptQueue`. */
export type AcceptQueue = ReturnType<typeof createAcceptQueue>

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
 * one round trip serve many under load, and one at a time else. If a statement fails, its requests are accepted one by one, so that none
 * fails by another's fault; not if its effect is unknown. While another transaction has locked an account, only requests of its keys wait.
 */
export const createAcceptQueue = (acceptTogether: AcceptTogether) => {
  const lines = Array.from({ length: statementsMax }, (): Line => ({ waiting: [], isRunning: false }))
  /** Lines of keys whose account was locked, by name. */
  const locked = new Map<string, Line>()

  const settle = (batch: readonly Waiting[], outcomes: readonly (AcceptOutcome | 'locked')[]): Waiting[] =>
    batch.filter((request, index) => {
      const outcome = outcomes[index]
      if (outcome === undefined || outcome === 'locked') return true
      request.resolve(outcome)
      return false
    })

  /** Returns those whose account was locked. */
  const serve = async (batch: readonly Waiting[], waits: boolean): Promise<Waiting[]> => {
    try {
      return settle(batch, await acceptTogether(batch, { waits }))
    } catch (error) {
      const isUnknown = error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE'
      if (batch.length === 1 || isUnknown) {
        for (const { reject } of batch) reject(error)
        return []
      }
      const left: Waiting[] = []
      for (const request of batch) left.push(...(await serve([request], waits)))
      return left
    }
  }

  const run = async (line: Line, waits: boolean): Promise<void> => {
    if (line.isRunning) return
    line.isRunning = true
    // Requests of the same turn share the statement.
    await endOfTurn()
    while (line.waiting.length > 0) for (const request of await serve(take(line.waiting), waits)) waitForLock(request)
    line.isRunning = false
  }

  const waitForLock = (request: Waiting): void => {
    const { keyName } = request
    const line = locked.get(keyName) ?? { waiting: [], isRunning: false }
    line.waiting.push(request)
    if (line.isRunning) return
    locked.set(keyName, line)
    void run(line, true).then(() => locked.delete(keyName))
  }

  return {
    /** Rejects as `acceptCapture` does. */
    accept: (request: AcceptRequest): Promise<AcceptOutcome> => {
      const { keyHash, accountId } = request.capture
      const keyName = accountId ?? keyHash?.toString('latin1') ?? ''
      const waiting = { ...request, keyName, ...Promise.withResolvers<AcceptOutcome>() }
      if (locked.has(keyName)) waitForLock(waiting)
      else {
        const line = lines[(keyHash?.[0] ?? 0) % statementsMax]
        line?.waiting.push(waiting)
        if (line) void run(line, false)
      }
      return waiting.promise
    },
  }
}
