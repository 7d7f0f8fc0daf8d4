-- A time in the contract's form: ISO 8601, UTC, microseconds, trailing Z. Null stays null. Stable, as to_char is, so that the
-- planner inlines it.
create or replace function iso_time(p_time timestamptz) returns text
language sql stable as $$
  select to_char(p_time at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;
