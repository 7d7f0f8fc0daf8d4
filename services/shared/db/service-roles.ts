import { type RoleHolder, roleServices, type ServiceRoles } from '#shared/config/settings/database-roles.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Sql } from './connection.ts'

/** Changed by whoever accepts, ends or deletes captures. */
const captureTables = [
  'account_meter',
  'accepted_count',
  'batch',
  'capture',
  'capture_count',
  'deletion',
  'idempotency_key',
  'lane_meter',
  'object_removal',
  'outbox',
  'receiver_change',
  'stored_object',
  'usage',
  'usage_day',
  'webhook_arrival',
  'webhook_delivery',
] as const
/** All rows of these are removed with their account or after their time. */
const accountTables = ['account', 'console_session', 'link_secret', 'member', 'sign_in_link', 'used_sign_in'] as const

/**
 * What each service needs: privileges, and tables with them. None of them changes the schema, or removes audit entries. The
 * ledger creates and changes no keys, members, sessions and links: it removes them, and empties the details of audit entries, for erasures. The sender of webhooks connects to servers that callers
 * name: it sees no keys, sessions, members and links, and of accounts only whether they are moved.
 */
const rights: Readonly<Record<RoleHolder, Readonly<Record<string, readonly string[]>>>> = {
  gateway: {
    select: ['cleanup_cursor', 'orphan_sweep', 'plan', 'webhook_attempt', 'webhook_polling', 'webhook_queue'],
    'select, insert': ['activity', 'audit_entry'],
    'select, insert, update, delete': [
      ...captureTables,
      ...accountTables,
      'api_key',
      'key_fingerprint',
      'key_pepper',
      'maintenance',
      'pool_pause',
      'upload_destination',
      'webhook',
      'webhook_secret',
    ],
  },
  ledger: {
    select: ['capture_ended_other', 'maintenance', 'plan', 'webhook_polling'],
    'select, update': ['pool_pause'],
    'select, insert, update (detail)': ['audit_entry'],
    // To lock a row, a role must be able to change one of its columns: of these nobody gains anything.
    'update (id)': ['account'],
    'update (user_agent)': ['console_session'],
    'update (session_id)': ['sign_in_link'],
    'update (expires_at)': ['used_sign_in'],
    'select, delete': [...accountTables, 'activity', 'api_key', 'upload_destination', 'webhook', 'webhook_secret'],
    'select, insert, update, delete': [
      ...captureTables,
      'cleanup_cursor',
      'key_fingerprint',
      'late_cleanup',
      'orphan_sweep',
      'webhook_attempt',
      'webhook_queue',
    ],
  },
  webhooks: {
    'select (id, moving_at)': ['account'],
    select: ['capture', 'receiver_change', 'upload_destination', 'webhook', 'webhook_secret'],
    'update (last_delivery_at)': ['webhook'],
    'select, update': ['webhook_polling'],
    'select, insert, update, delete': [
      'key_fingerprint',
      'webhook_arrival',
      'webhook_attempt',
      'webhook_delivery',
      'webhook_queue',
    ],
  },
}

/** What the ledger calls to create and drop partitions, which only the owner may: run as the owner, by nobody else. */
const ownerFunctions = ['keep_captures(integer)', 'keep_activity(integer)', 'drop_captures(integer)'] as const

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const requireRole = async (sql: Sql, name: string): Promise<void> => {
  const [found] = await sql.query('select from pg_roles where rolname = $1', [name])
  if (found) return
  throw new AppError('CONFIGURATION', {
    publicMessage: `SHUTTERFLEET_DATABASE_ROLES: PostgreSQL has no role ${name}: create role ${quoted(name)} login password '…', as a user that may`,
  })
}

/**
 * Grants the roles of services what these need, and nothing else; services may share one. Called by the owner of the database after
 * each migration, in a transaction; the roles exist. Idempotent. Throws `CONFIGURATION` with the statement that creates a missing role.
 */
export const grantToServices = async (sql: Sql, roles: ServiceRoles): Promise<void> => {
  for (const name of Object.values(roles)) {
    await requireRole(sql, name)
    await sql.query(`revoke all on all tables in schema public from ${quoted(name)}`)
    await sql.query(`revoke all on all sequences in schema public from ${quoted(name)}`)
    await sql.query(`grant usage on schema public to ${quoted(name)}`)
  }
  for (const service of roleServices) {
    const name = roles[service]
    if (name === undefined) continue
    for (const [privileges, tables] of Object.entries(rights[service]))
      await sql.query(`grant ${privileges} on ${tables.join(', ')} to ${quoted(name)}`)
    // They count what was accepted.
    if (service !== 'webhooks')
      await sql.query(`grant usage, select on all sequences in schema public to ${quoted(name)}`)
    if (service === 'ledger') await grantPartitions(sql, name)
  }
}

const grantPartitions = async (sql: Sql, role: string): Promise<void> => {
  for (const name of ownerFunctions) {
    await sql.query(`alter function ${name} security definer set search_path = public, pg_temp`)
    await sql.query(`revoke execute on function ${name} from public`)
    await sql.query(`grant execute on function ${name} to ${quoted(role)}`)
  }
  // An erasure deletes from a partition itself; keep_activity grants that on those that it creates.
  const partitions = await sql.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'activity'::regclass`,
  )
  for (const { name } of partitions) await sql.query(`grant select, delete on ${name} to ${quoted(role)}`)
}
