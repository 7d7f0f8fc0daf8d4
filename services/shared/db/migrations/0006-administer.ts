import { Migration } from '@mikro-orm/migrations'

const accounts = `alter table account add column disabled_at timestamptz`

/** No foreign key: what was done to an account stays known after it is erased. */
const audit = `
create table audit_entry (
  id uuid primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  detail json not null
);
create index audit_entry_at on audit_entry (at desc, id desc);
`

/** At most one row: while it stands nothing is accepted. */
const maintenance = `
create table maintenance (
  id integer primary key default 1 constraint maintenance_id_check check (id = 1),
  since timestamptz not null
);
`

/** Accounts that may be switched off, maintenance, and a record of every change. */
export class Administer extends Migration {
  override up(): void {
    for (const statements of [accounts, audit, maintenance]) this.addSql(statements)
  }
}
