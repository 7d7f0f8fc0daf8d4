-- Queues `quota.warning` when an account's usage of its period reaches 80, 95 or 100 % of its quota, in the transaction
-- that reserves. p_used includes the p_added captures just reserved. A webhook gets one delivery per threshold and
-- period: the delivery's id is derived from them, so usage that falls and rises again sends nothing. Only inserts.

create or replace function warn_of_quota(
  p_account_id uuid, p_period date, p_used bigint, p_added integer, p_limit integer
) returns void
language plpgsql as $$
begin
  -- Nearly every accept returns here, without reading a table.
  if p_limit is null or p_limit <= 0 or p_used * 100.0 / p_limit < 80 or (p_used - p_added) >= p_limit then
    return;
  end if;
  with queued as (
    insert into webhook_delivery (id, account_id, webhook_id, url, host, event, subject, next_attempt_at, created_at)
    select md5(concat_ws(' ', 'quota.warning', w.id, p_period, t.percent))::uuid, w.account_id, w.id, w.url,
           receiver_of(w.url), 'quota.warning',
           json_build_object(
             'id', md5(concat_ws(' ', 'quota.warning', w.id, p_period, t.percent))::uuid, 'percentage', t.percent,
             'screenshots_used', p_used, 'screenshots_limit', p_limit,
             'period_start', to_char(p_period, 'YYYY-MM-DD"T00:00:00.000000Z"')),
           clock_timestamp(), clock_timestamp()
      from (values (80), (95), (100)) as t (percent)
      join webhook w on w.account_id = p_account_id and w.active and 'quota.warning' = any (w.events)
     where p_used * 100.0 / p_limit >= t.percent and (p_used - p_added) * 100.0 / p_limit < t.percent
        on conflict (id) do nothing
    returning account_id, host
  )
  insert into webhook_arrival (account_id, host, due_at)
  select q.account_id, q.host, clock_timestamp() from queued q group by 1, 2;
end
$$;
