import { AppError } from '#shared/errors/app-error.ts'
import type { Sql } from './connection.ts'

/** Services that may connect under a role of their own, which is not the owner of the database. */
export const roleServices = ['webhooks'] as const

/** Roles by service. */
export type ServiceRoles = Readonly<Partial<Record<(typeof roleServices)[number], string>>>

/**
 * What each service needs: privileges, and tables with them. The sender of webhooks connects to servers that callers name: it sees no
 * keys, sessions, members and links, and of accounts only whether they are moved.
 */
const rights: Readonly<Record<(typeof roleServices)[number], Readonly<Record<string, readonly string[]>>>> = {
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

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/**
 * Grants the roles of services what these need, and nothing else. Called by the owner of the database after each migration; the roles
 * exist. Idempotent. Throws `CONFIGURATION` with the statement that creates a missing role.
 */
export const grantToServices = async (sql: Sql, roles: ServiceRoles): Promise<void> => {
  for (const service of roleServices) {
    const name = roles[service]
    if (name === undefined) continue
    const [found] = await sql.query('select from pg_roles where rolname = $1', [name])
    if (!found) {
      throw new AppError('CONFIGURATION', {
        publicMessage: `SHUTTERFLEET_DATABASE_ROLES: PostgreSQL has no role ${name}: create role ${quoted(name)} login password '…', as a user that may`,
      })
    }
    await sql.query(`revoke all on all tables in schema public from ${quoted(name)}`)
    await sql.query(`grant usage on schema public to ${quoted(name)}`)
    for (const [privileges, tables] of Object.entries(rights[service]))
      await sql.query(`grant ${privileges} on ${tables.join(', ')} to ${quoted(name)}`)
  }
}
