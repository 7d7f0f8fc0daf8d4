/** Records deleted captures in a table, as far as meters still count them. */
export const keepDeleted = `
  create table deleted (account_id uuid, pool text, lane text, stays boolean, is_charged boolean, batch_id uuid, status text, outcome text);
  create function keep_deleted() returns trigger language plpgsql as $$
  begin
    -- It has moved to another partition.
    if exists (select from capture k where k.id = old.id) then return null; end if;
    -- What has begun stays charged, unless one that followed it goes on under the same charge.
    insert into deleted values (old.account_id, old.pool, old.lane,
      old.status = 'completed' or old.status = 'processing' and not exists (
        select from capture k where k.account_id = old.account_id and k.cache_key = old.cache_key
           and k.charge = 'reserved'),
      old.charge <> 'free', old.batch_id, case when old.status = 'completed' then 'completed' else 'failed' end,
      case when old.status = 'failed' then old.error_code when old.cached then 'cached'
           when old.status = 'completed' then 'completed'
           when old.status = 'processing' and not exists (
             select from capture k where k.account_id = old.account_id and k.cache_key = old.cache_key
                and k.charge = 'reserved') then 'deleted' end);
    return null;
  end $$;
  create trigger keep_deleted after delete on capture for each row execute function keep_deleted()`

const nothing = `(select null::uuid as account_id, '' as pool, '' as lane, false as stays, false as is_charged,
  null::uuid as batch_id, '' as status where false)`

const differences = (deleted: string) => `
  with gone as (select * from ${deleted} as d),
  charged as (select * from capture where charge <> 'free'),
  lanes as (
    select account_id, pool, lane, count(*) filter (where status in ('pending', 'processing')
        and not exists (select from outbox where capture_id = id and relay_at is null)) as admitted,
      count(*) filter (where exists (select from outbox where capture_id = id and relay_at is null)) as waiting,
      count(*) filter (where status = 'processing') as processing
    from charged group by 1, 2, 3),
  accounts as (
    select account_id, count(*) filter (where status = 'pending') as pending,
      count(*) filter (where charge = 'reserved') as reserved, count(*) filter (where charge = 'settled')
        + (select count(*) from gone d where d.account_id = charged.account_id and d.stays and d.is_charged) as settled
    from charged group by 1),
  members as (
    select batch_id, status from capture union all select batch_id, status from gone),
  batches as (
    select batch_id as id, count(*) as total, count(*) filter (where status = 'processing') as processing,
      count(*) filter (where status = 'completed') as completed, count(*) filter (where status = 'failed') as failed
    from members where batch_id is not null group by 1)
  select l.*, null::bigint, row_to_json(n) as meter from lane_meter n full join lanes l using (account_id, pool, lane)
   where (coalesce(l.admitted, 0), coalesce(l.waiting, 0), coalesce(l.processing, 0)) is distinct from (n.admitted, n.waiting, n.processing)
  union all
  select a.account_id, null, null, a.pending, a.reserved, a.settled, null, row_to_json(u)
    from accounts a join account_meter m using (account_id) join usage u using (account_id)
   where (a.pending, a.reserved, a.settled) is distinct from (m.pending, u.reserved, u.settled)
  union all
  select d.id, null, null, d.total, d.processing, d.completed, d.failed, row_to_json(b)
    from batches d full join batch b using (id)
   where (d.total, d.processing, d.completed, d.failed) is distinct from (b.total, b.processing, b.completed, b.failed)`

/** Selects every meter that differs from the counts over the rows, with both values. Requires that no row was deleted. */
export const meterDifferences = differences(nothing)

/** Like `meterDifferences`, if rows were deleted under `keepDeleted`. */
export const meterDifferencesAfterDeletes = differences('deleted')

/** Selects the daily counts that differ from the counts over the rows, with both values. */
export const dayDifferences = `
  with days as (
    select account_id, (created_at at time zone 'utc')::date as day, count(*) filter (where status = 'completed') as completed,
      count(*) filter (where status = 'failed') as failed
    from capture where status in ('completed', 'failed') group by 1, 2)
  select d.*, row_to_json(n) as counted from capture_count n full join days d using (account_id, day)
   where (d.completed, d.failed) is distinct from (n.completed, n.failed)`

/** Selects the outcomes whose captures differ from those of the rows, deleted ones included under `keepDeleted`, with both numbers. */
export const outcomeDifferences = `
  with known as (
    select account_id, case when status = 'failed' then error_code when cached then 'cached' else 'completed' end as outcome
      from capture where status in ('completed', 'failed')
    union all select account_id, outcome from deleted where outcome is not null),
  actual as (select account_id, outcome, count(*) as captures from known group by 1, 2),
  counted as (select account_id, outcome, sum(captures) as captures from usage_day group by 1, 2)
  select account_id, outcome, a.captures as actual, c.captures as counted
    from actual a full join counted c using (account_id, outcome) where a.captures is distinct from c.captures`

/** Selects the accounts whose usage by day differs from the settled usage of all periods, with both numbers. */
export const chargeDifferences = `
  with days as (
    select account_id, sum(captures) as charged from usage_day where outcome in ('completed', 'deleted') group by 1),
  periods as (select account_id, sum(settled) as settled from usage group by 1)
  select account_id, d.charged, p.settled from days d full join periods p using (account_id)
   where coalesce(d.charged, 0) <> coalesce(p.settled, 0)`
