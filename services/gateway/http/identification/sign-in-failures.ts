import { noteChange } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import { createClientLimit } from './client-limit.ts'
import type { Client } from '#shared/policy/client.ts'

/** Entries of one client at once, and again in each minute. */
const clientEntries = { burst: 5, perMinute: 1 }
/** Entries of all clients at once, and again in each minute: some 1,500 a day for each gateway. */
const allEntries = { burst: 50, perMinute: 1 }

const everybody: Client = { network: 'all', site: 'all' }

/** A sign-in that failed: with a link, the provider, or a token of the administration. */
type SignInFailed = {
  readonly how: 'link' | 'provider' | 'token'
  readonly reason: string
  readonly client: Client
}

type Dependencies = { readonly database: Pick<Database, 'entities'>; readonly failed: (error: unknown) => void }

/** Records failed sign-ins in the audit log, so few that nobody can fill it. */
export class SignInFailures {
  readonly #deps: Dependencies
  readonly #ofClient
  readonly #ofAll
  #omitted = 0

  /** `nowMs`: a monotonic clock. `failed` is called if an entry could not be written. */
  constructor(deps: Dependencies, nowMs: () => number) {
    this.#deps = deps
    this.#ofClient = createClientLimit({ ...clientEntries, nowMs })
    this.#ofAll = createClientLimit({ ...allEntries, nowMs })
  }

  /** Writes an entry, which says how many were left out before it, unless there were too many. Never throws. */
  async note({ how, reason, client }: SignInFailed): Promise<void> {
    if (this.#ofClient.take(client) > 0 || this.#ofAll.take(everybody) > 0) {
      this.#omitted += 1
      return
    }
    const detail = { how, reason, from: client.network, ...(this.#omitted > 0 && { omitted: this.#omitted }) }
    this.#omitted = 0
    try {
      await noteChange(this.#deps.database, {
        actor: 'unknown',
        action: 'session.fail',
        target: client.network,
        detail,
      })
    } catch (error) {
      this.#deps.failed(error)
    }
  }
}
