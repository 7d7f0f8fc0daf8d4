import { Migration } from '@mikro-orm/migrations'

/** The secrets stand apart, and sealed: only the sender opens them, and nothing that lists webhooks reads them. */
const webhooks = `
create table webhook (
  id uuid primary key,
  account_id uuid not null constraint webhook_account_id_foreign references account (id) on delete cascade,
  url text not null,
  events text[] not null,
  description text not null,
  active boolean not null,
  created_at timestamptz not null,
  last_delivery_at timestamptz
) with (fillfactor = 70);
create index webhook_account on webhook (account_id);

create table webhook_secret (
  webhook_id uuid primary key constraint webhook_secret_webhook_id_foreign references webhook (id) on delete cascade,
  sealed bytea not null,
  previous_sealed bytea,
  previous_until timestamptz
);
`

/**
 * No foreign key to captures and webhooks: rows are written where captures end, and must hold up nobody. The partial
 * indexes hold only what waits, so a long log costs the sender nothing.
 */
const deliveries = `
create table webhook_delivery (
  id uuid primary key,
  account_id uuid not null,
  capture_id uuid,
  webhook_id uuid,
  url text not null,
  host text not null,
  event text not null,
  subject json,
  body text,
  sent_at timestamptz,
  attempts integer not null default 0,
  failures integer not null default 0,
  next_attempt_at timestamptz,
  leased_until timestamptz,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  created_at timestamptz not null
) with (fillfactor = 70);
create index webhook_delivery_due on webhook_delivery (account_id, host, next_attempt_at) where state = 'pending';
create index webhook_delivery_leased on webhook_delivery (leased_until) where leased_until is not null;
create index webhook_delivery_capture on webhook_delivery (capture_id) where capture_id is not null;
create index webhook_delivery_webhook on webhook_delivery (webhook_id, created_at desc, id desc)
  where webhook_id is not null;
create index webhook_delivery_age on webhook_delivery (created_at);

create table webhook_attempt (
  delivery_id uuid not null
    constraint webhook_attempt_delivery_id_foreign references webhook_delivery (id) on delete cascade,
  number integer not null,
  at timestamptz not null,
  status integer,
  ms integer not null,
  error text,
  primary key (delivery_id, number)
);
`

/** Webhooks of accounts, and the log of what was sent to receivers. */
export class TellReceivers extends Migration {
  override up(): void {
    for (const statements of [webhooks, deliveries]) this.addSql(statements)
  }
}
