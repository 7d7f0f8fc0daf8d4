import { Migration } from '@mikro-orm/migrations'

/** 1,000 captures per second of one account pass four bytes within a month. */
const counts = `alter table usage alter column reserved type bigint, alter column settled type bigint`

/** What an account is erased by. */
const owners = `
create index webhook_delivery_account on webhook_delivery (account_id);
create index batch_account on batch (account_id);
create index audit_entry_target on audit_entry (target);
`

/**
 * PostgreSQL vacuums a table once a fifth of it is dead, by default: of a hundred million captures that is after twenty
 * million ends. Large tables are vacuumed after a hundredth, and analyzed after a fiftieth, so that the oldest part of an
 * index is never long behind its removals. Tables that fill and empty within seconds are vacuumed by number, not by share:
 * what is dead there is walked over by everybody who looks for what is due.
 */
const large = ['capture', 'stored_object', 'webhook_delivery', 'webhook_attempt', 'idempotency_key', 'batch']
const passing = ['outbox', 'object_removal', 'deletion', 'late_cleanup']

const largeSettings = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02`
const passingSettings = 'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000'

/** Counts that do not overflow, erasure by index, and vacuum that keeps up with removal. */
export class BoundWhatGrows extends Migration {
  override up(): void {
    for (const statements of [counts, owners]) this.addSql(statements)
    for (const table of large) this.addSql(`alter table ${table} set (${largeSettings})`)
    for (const table of passing) this.addSql(`alter table ${table} set (${passingSettings})`)
  }
}
