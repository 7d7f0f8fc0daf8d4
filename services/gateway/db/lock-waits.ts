import { setTimeout as delay } from 'node:timers/promises'
import { createConcurrencyLimit } from '#gateway/limits/concurrency-limit.ts'
import { AppError } from '#shared/errors/app-error.ts'

/** Connections that are left for statements that wait for no account: two lines and the retries of each of the two request queues. */
const reserve = 6
const waitMs = 5000
const pollMs = 50

/**
 * Bounds the statements that wait for the lock of an account, in all queues of a process, to a few below the size of its pool: however many
 * accounts other transactions have locked, connections are left for all others. One account has at most half of them.
 */
export class LockWaits {
  readonly #limit: ReturnType<typeof createConcurrencyLimit>

  constructor(poolMax: number) {
    const max = Math.max(1, poolMax - reserve)
    this.#limit = createConcurrencyLimit({ max, accountMax: Math.max(1, Math.floor(max / 2)) })
  }

  /** `caller`: an account, or a key where the account is not known yet. Returns a permit to wait until it is disposed; undefined at a bound. */
  take(caller: string): Disposable | undefined {
    const permit = this.#limit.take(caller)
    return typeof permit === 'string' ? undefined : permit
  }

  /** Runs a statement that may wait, once there is a permit. Rejects with `SERVICE_UNAVAILABLE` if there is none for five seconds. */
  async run<T>(caller: string, statement: () => Promise<T>): Promise<T> {
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      using permit = this.take(caller)
      if (permit) return await statement()
      if (waitedMs >= waitMs)
        throw new AppError('SERVICE_UNAVAILABLE', { message: `too many statements wait for locked accounts` })
      await delay(pollMs)
    }
  }
}
