insert into accepted_count (minute, pool, lane, accepted)
  select $1::timestamptz, c.pool, c.lane, c.accepted
    from unnest($2::text[], $3::text[], $4::bigint[]) as c (pool, lane, accepted)
  -- Another ledger has counted.
  on conflict do nothing
