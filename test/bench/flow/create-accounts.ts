import { randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '#shared/db/connection.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { createLinkSecretDerivation } from '#shared/db/link-secrets.ts'
import { type SealingKey, seal } from '#shared/queue/seal.ts'
import { hookUrl } from '#test/helpers/webhook-sender.ts'
import { featureNames } from '#shared/capture/features.ts'
import { type Client, createClients } from '#test/bench/served.ts'
import { testPepper } from '#test/helpers/running-gateway.ts'

const slug = 'bench'

/** An account with the id of its key, and the secret of the key's links. */
export type LinkClient = Client & { readonly keyId: string; readonly linkSecret: string }

const insert = `
  with made as (
    insert into account (id, name, email, plan, created_at)
    select unnest($1::uuid[]), 'Bench', 'b@example.com', $4, now() returning id),
  metered as (insert into account_meter (account_id) select id from made),
  keyed as (
    insert into api_key (id, account_id, name, prefix, key_hash, domains, created_at)
    select k.id, k.account_id, 'key', k.prefix, k.hash, '{}', now()
      from unnest($1::uuid[], $2::text[], $3::bytea[], $5::uuid[]) as k (account_id, prefix, hash, id))
  insert into link_secret (key_id, nonce, created_at) select id, nonce, now() from unnest($5::uuid[], $6::bytea[]) as l (id, nonce)`

/**
 * Makes one account, and by one statement `count` others, whose keys have link secrets; each with a key, on a plan with all features,
 * whose limits are not reached.
 */
export const createAccounts = async (
  database: Database,
  count: number,
): Promise<{ readonly first: Client; readonly others: readonly LinkClient[] }> => {
  const [first] = await createClients(database, 1, { slug, features: [...featureNames] })
  if (!first) throw new Error('no account')
  const derive = createLinkSecretDerivation(testPepper)
  const hash = createKeyHash(testPepper)
  const others = Array.from({ length: count }, () => {
    const [keyId, nonce] = [randomUUID(), randomBytes(32)]
    const key = `sk_live_${randomBytes(20).toString('hex')}`
    return { accountId: randomUUID(), key, keyId, nonce, linkSecret: derive(keyId, nonce) }
  })
  await database.query(insert, [
    others.map(({ accountId }) => accountId),
    others.map(({ key }) => key.slice(0, 12)),
    others.map(({ key }) => hash(key)),
    slug,
    others.map(({ keyId }) => keyId),
    others.map(({ nonce }) => nonce),
  ])
  await database.query('analyze account, account_meter, api_key, link_secret')
  return { first, others: others.map(({ nonce: _nonce, ...account }) => account) }
}

const insertWebhooks = `
  with made as (
    insert into webhook (id, account_id, url, events, description, active, created_at)
    select w.id, w.account_id, w.url, '{screenshot.completed,screenshot.failed}', '', true, now()
      from unnest($1::uuid[], $2::uuid[], $3::text[]) as w (id, account_id, url))
  insert into webhook_secret (webhook_id, sealed) select * from unnest($1::uuid[], $4::bytea[])`

/** Gives each account one webhook, to a receiver with a name of its own. */
export const addWebhooks = async (database: Database, accounts: readonly Client[], key: SealingKey): Promise<void> => {
  const webhooks = accounts.map(({ accountId }, nth) => {
    const id = randomUUID()
    const secret = Buffer.from(`whsec_${randomBytes(24).toString('base64')}`)
    return { id, accountId, url: hookUrl(`a${nth}`, '/ok'), sealed: seal(key, id, secret) }
  })
  await database.query(insertWebhooks, [
    webhooks.map(({ id }) => id),
    webhooks.map(({ accountId }) => accountId),
    webhooks.map(({ url }) => url),
    webhooks.map(({ sealed }) => sealed),
  ])
  await database.query('analyze webhook, webhook_secret')
}
