-- Maintains two counts of an account's ended captures by the UTC day of their acceptance. `capture_count`: those whose rows exist,
-- completed and failed; the list of captures takes its totals from it if counting the rows would take too long. `usage_day`: what
-- they became, also after their rows are removed. All functions are called in the transaction that changes the rows, after it has
-- locked them, and take their own locks last, in the order of check-request.sql.

-- Counts captures that have just ended. Must be called once for each, with their accounts' meters locked.
create or replace function count_ended(p_captures capture[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  if cardinality(p_captures) = 0 then
    return;
  end if;
  -- A deleted account has no meter and needs no counts.
  with ended as materialized (
    select c.account_id, (c.created_at at time zone 'utc')::date as day, c.status,
           case when c.status = 'failed' then c.error_code when c.cached then 'cached' else 'completed' end as outcome,
           count(*) as captures
      from unnest(p_captures) as c join account_meter m on m.account_id = c.account_id
     where c.status in ('completed', 'failed')
     group by 1, 2, 3, 4
  ), by_outcome as (
    insert into usage_day as u (account_id, day, outcome, captures)
    select e.account_id, e.day, e.outcome, e.captures from ended e
        on conflict (account_id, day, outcome) do update set captures = u.captures + excluded.captures
  )
  insert into capture_count as n (account_id, day, completed, failed)
  select e.account_id, e.day, coalesce(sum(e.captures) filter (where e.status = 'completed'), 0),
         coalesce(sum(e.captures) filter (where e.status = 'failed'), 0)
    from ended e group by 1, 2
      on conflict (account_id, day) do update
     set completed = n.completed + excluded.completed, failed = n.failed + excluded.failed;
end
$$;

-- Subtracts from `capture_count` captures that are about to be deleted; those that have not ended were never counted. Must be called with
-- the rows locked, before they are deleted.
create or replace function uncount_ended(p_captures capture[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  if cardinality(p_captures) = 0 then
    return;
  end if;
  perform from account_meter where account_id in (select c.account_id from unnest(p_captures) as c)
    order by account_id for update;
  update capture_count n set completed = n.completed - d.completed, failed = n.failed - d.failed
    from (select c.account_id, (c.created_at at time zone 'utc')::date as day,
                 count(*) filter (where c.status = 'completed') as completed,
                 count(*) filter (where c.status = 'failed') as failed
            from unnest(p_captures) as c where c.status in ('completed', 'failed') group by 1, 2) as d
   where n.account_id = d.account_id and n.day = d.day;
  delete from capture_count n
   using (select distinct c.account_id, (c.created_at at time zone 'utc')::date as day from unnest(p_captures) as c) as d
   where n.account_id = d.account_id and n.day = d.day and n.completed = 0 and n.failed = 0;
end
$$;
