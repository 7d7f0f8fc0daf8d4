import { randomUUID } from 'node:crypto'
import { defaultPlans } from '#local/default-plans.ts'
import { createAccount } from '#shared/db/accounts.ts'
import type { Database } from '#shared/db/connection.ts'
import { recordFingerprints } from '#shared/db/key-fingerprints.ts'
import { confirmPepper } from '#shared/db/key-pepper.ts'
import { createKey } from '#shared/db/keys.ts'
import { movedTables } from '#shared/db/move-account.ts'
import { replacePlans } from '#shared/db/plans.ts'
import type { TestPostgres } from './postgres.ts'

const pepper = 'pepper'

/** An installation on a server, with plans, from and to which accounts can move. */
export const createInstallation = async (server: TestPostgres) => {
  const database = await server.createDatabase()
  await replacePlans(database, defaultPlans)
  await confirmPepper(database, pepper)
  await recordFingerprints(database, { RECORD_KEYS: ['a:key'] })
  return database
}

/** An account with a key. */
export const newAccount = async (database: Database) => {
  const { id } = await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'pro' })
  const { id: keyId } = await createKey(database, { accountId: id, name: '', domains: [], pepper })
  const [row] = await database.query<{ hash: Buffer }>('select key_hash as hash from api_key where id = $1', [keyId])
  return { id, keyId, keyHash: row?.hash ?? Buffer.alloc(0) }
}

/** Gives the account a row in every table that it takes along, with values that lose something in a careless copy. */
export const fill = async (database: Database, { id, keyId }: { readonly id: string; readonly keyId: string }) => {
  const [captureId, otherId, webhookId, deliveryId, objectKey] = [
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
    `o/${randomUUID()}`,
  ]
  const now = `'2026-01-02T03:04:05.678901Z'`
  const capture = (of: string) =>
    `insert into capture (id, account_id, status, part, pool, lane, options, token_hash, budget_ms, period, retention_seconds, created_at, completed_at, object_key, file_size)
     values ('${of}', '${id}', 'completed', 'ended', 'standard', 'bulk', '{"b": 1, "a": null, "z": 1.10}', '\\x00ff', 1, ${now}, 1, ${now}, ${now}, '${objectKey}', 9007199254740993)`
  const statements = [
    `insert into member (id, account_id, email, role, added_by, created_at) values (gen_random_uuid(), '${id}', 'm@example.com', 'owner', 'admin', ${now})`,
    `insert into link_secret (key_id, nonce, created_at) values ('${keyId}', '\\x01', ${now})`,
    `insert into usage (account_id, period, reserved, settled) values ('${id}', '2026-01-01', 0, 7)`,
    `insert into usage_day (account_id, day, outcome, captures) values ('${id}', '2026-01-02', 'completed', 2)`,
    `insert into capture_count (account_id, day, completed, failed) values ('${id}', '2026-01-02', 2, 0)`,
    `insert into webhook (id, account_id, url, events, description, active, created_at)
     values ('${webhookId}', '${id}', 'https://example.com/', '{screenshot.completed}', 'a "b", c', true, ${now})`,
    `insert into webhook_secret (webhook_id, sealed) values ('${webhookId}', '\\xdead')`,
    `insert into upload_destination (id, account_id, name, endpoint, region, bucket, path_style, url, prefix, access_key_id, sealed_secret, created_at)
     values (gen_random_uuid(), '${id}', 'n', 'e', 'r', 'b', true, 'u', '', 'k', '\\xbeef', ${now})`,
    `insert into receiver_change (id, account_id, due_at) values (gen_random_uuid(), '${id}', ${now})`,
    `insert into batch (id, account_id, total, completed, created_at) values (gen_random_uuid(), '${id}', 2, 2, ${now})`,
    capture(captureId),
    capture(otherId),
    `insert into stored_object (key, capture_id, bytes, sha256, created_at, expires_at) values ('${objectKey}', '${captureId}', 1, '', ${now}, ${now})`,
    `insert into idempotency_key (account_id, key, request_sha256, capture_id, created_at) values ('${id}', 'k', '\\x02', '${captureId}', ${now})`,
    `insert into webhook_delivery (id, account_id, capture_id, url, host, event, subject, next_attempt_at, created_at)
     values ('${deliveryId}', '${id}', '${captureId}', 'https://example.com/', 'example.com', 'e', '{"b": 1, "a": 2}', now() + interval '1 hour', ${now})`,
    `insert into webhook_attempt (delivery_id, number, at, ms) values ('${deliveryId}', 1, ${now}, 1)`,
    `select add_activity_day('2026-01-02')`,
    `insert into activity (at, id, account_id, client, operation, status) values (${now}, gen_random_uuid(), '${id}', '192.0.2.1', 'account', 200)`,
    `insert into webhook_queue (account_id, host, due_at) values ('${id}', 'example.com', now() + interval '1 hour')`,
  ]
  for (const statement of statements) await database.query(statement)
  return { captureId }
}

/** The account's rows of a table as JSON text, sorted. */
export const rowsOf = async (database: Database, table: string, id: string) => {
  const rows = await database.query<{ row: string }>(
    `select row_to_json(r)::text as row from ${table} r where ${movedTables[table]} order by 1`,
    [id],
  )
  return rows.map(({ row }) => row)
}

/** An installation whose transactions with entities call `before` first. */
export const before = (database: Database, call: () => Promise<unknown>): Database =>
  Object.assign(Object.create(database) as Database, {
    entities: async (work: Parameters<Database['entities']>[0]) => {
      await call()
      return database.entities(work)
    },
  })
