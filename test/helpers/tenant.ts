import { createHash, randomUUID, randomUUIDv7 } from 'node:crypto'
import type { NewCapture } from '#gateway/db/accept-capture.ts'
import { createAccount } from '#shared/db/accounts.ts'
import type { Database } from '#shared/db/connection.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import type { PlanEntry } from '#shared/db/read-plans.ts'

const pepper = 'pepper of tests'

/** Token of attempts and their results. */
export const token = 'token'
const tokenHash = createHash('sha256').update(token).digest()

/** An account with a key, on a separate plan. */
export type Tenant = {
  readonly accountId: string
  readonly keyHash: Buffer
  /** A capture of this account as the gateway passes it to the database; its sealed part contains its id. */
  readonly capture: (more?: Partial<NewCapture>) => NewCapture
}

const unbounded: PlanEntry = {
  slug: 'unbounded',
  name: 'Unbounded',
  screenshots_per_month: null,
  rate_limit_per_minute: null,
  retention_seconds: 3600,
  features: ['retina', 'pdf'],
  overage_price: null,
  max_api_keys: null,
}

/** Creates an account on a plan with only the given limits, and a key for it, restricted to `domains` if given. */
export const createTenant = async (
  database: Database,
  limits: Partial<PlanEntry> = {},
  domains: readonly string[] = [],
): Promise<Tenant> => {
  const slug = `plan-${randomUUID().slice(0, 8)}`
  const rows = await database.query<PlanEntry & { position: number }>('select * from plan order by position')
  const standing = rows.map(({ position: _position, price_monthly: _price, currency: _currency, ...plan }) => plan)
  await replacePlans(database, [...standing, { ...unbounded, ...limits, slug }])
  const { id: accountId } = await createAccount(database, { name: 'Tenant', email: 't@example.com', plan: slug })
  const { key } = await createKey(database, { accountId, name: 'key', domains, pepper })
  const keyHash = createKeyHash(pepper)(key)
  return {
    accountId,
    keyHash,
    capture: (more = {}) => {
      const id = randomUUIDv7()
      return {
        id,
        keyHash,
        originHost: null,
        features: [],
        pool: 'standard',
        lane: 'normal',
        url: 'https://example.com/',
        options: { width: 1280, height: 800, format: 'png' },
        sealed: Buffer.from(id),
        tokenHash,
        budgetMs: 50_000,
        ...more,
      }
    },
  }
}
