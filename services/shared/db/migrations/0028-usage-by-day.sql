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
