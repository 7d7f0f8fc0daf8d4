-- Counts: of what an account has, has used and may still do, and of what arrives.

-- One row each, updated by every accept: room on the page (fillfactor) and no index on what changes keep those updates
-- inside the page. The tables stay small, so vacuum comes early.
create table account_meter (
  account_id uuid primary key constraint account_meter_account_id_foreign references account (id) on delete cascade,
  minute timestamptz,
  requests integer not null default 0,
  pending integer not null default 0
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- What an account has used of a period: reserved at accept, settled once completed. 1,000 captures per second pass four bytes within a
-- month.
create table usage (
  account_id uuid not null constraint usage_account_id_foreign references account (id) on delete cascade,
  period date not null,
  reserved bigint not null default 0,
  settled bigint not null default 0,
  primary key (account_id, period)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- The captures of one lane of an account: admitted and not ended, waiting for room, and begun. What is admitted and has
-- not begun is what the window bounds. Most lanes belong to accounts that have nothing in the queue. The index holds the others; the
-- column changes only when a lane begins or ceases to wait or to be open, so nearly all updates of a meter stay inside its page.
create table lane_meter (
  account_id uuid not null constraint lane_meter_account_id_foreign references account (id) on delete cascade,
  pool text not null,
  lane text not null,
  admitted integer not null default 0,
  waiting integer not null default 0,
  processing integer not null default 0,
  stage smallint not null
    generated always as (case when waiting <> 0 then 2 when admitted <> 0 or processing <> 0 then 1 else 0 end) stored,
  primary key (account_id, pool, lane)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
create index lane_meter_open on lane_meter (stage) where stage > 0;

-- How many captures of an account, by the UTC day of their acceptance, have completed and failed and are still there.
-- Only the row of the present day changes often; room on its page keeps those updates inside of it.
create table capture_count (
  account_id uuid not null constraint capture_count_account_id_foreign references account (id) on delete cascade,
  day date not null,
  completed integer not null default 0,
  failed integer not null default 0,
  primary key (account_id, day)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
-- By which the counts of days whose captures were dropped are found.
create index capture_count_day on capture_count (day);

-- What an account's captures became, by the UTC day of their acceptance; see sql/count-ended.sql. Rows stay when their captures are
-- removed, for 400 days.
create table usage_day (
  account_id uuid not null constraint usage_day_account_id_foreign references account (id) on delete cascade,
  day date not null,
  -- 'completed', 'cached' (the result of another), 'deleted' (while it ran, and charged), or the error's code.
  outcome text not null,
  captures integer not null default 0,
  primary key (account_id, day, outcome)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
-- By what the ledger removes. Counting changes no indexed column.
create index usage_day_day on usage_day (day);

-- What was accepted ever, by pool and lane: counted without a row that all accounts would wait for.
create sequence accepted_standard_interactive;
create sequence accepted_standard_normal;
create sequence accepted_standard_bulk;
create sequence accepted_stealth_interactive;
create sequence accepted_stealth_normal;
create sequence accepted_stealth_bulk;
create sequence accepted_proxied_interactive;
create sequence accepted_proxied_normal;
create sequence accepted_proxied_bulk;

-- The same when a minute began: from the differences hourly, daily and weekly patterns are predicted.
create table accepted_count (
  minute timestamptz not null,
  pool text not null,
  lane text not null,
  accepted bigint not null,
  primary key (minute, pool, lane)
);
