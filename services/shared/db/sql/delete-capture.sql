-- Deletes an account's capture in any state; returns false if there is none. In the same transaction `deletion`
-- records when the ledger has to clean up the queue and the object store: at once, and, if an attempt may still be
-- running or queued, again once its publisher has timed out and once its budget is over.
--
-- The charge is released if the capture had not begun, and kept if it had; a follower that is promoted in its place
-- takes the charge over. Lock order: see check-request.sql.

create or replace function delete_capture(p_id uuid, p_account_id uuid) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := clock_timestamp();
  c capture;
  v_ended boolean;
  -- A follower is not given to a worker, so no meter counts it.
  v_counted boolean;
  v_waited boolean;
  v_promoted uuid;
begin
  perform refuse_while_moving(p_account_id);
  -- Its leader is locked first, as when both are ended.
  perform from capture k
    where k.id = (select f.follows from capture f where f.id = p_id and f.account_id = p_account_id) for update;
  select * into c from capture where id = p_id and account_id = p_account_id for update;
  if not found then
    return false;
  end if;
  v_ended := c.status in ('completed', 'failed');
  v_counted := not v_ended and c.follows is null;

  delete from outbox where capture_id = p_id returning relay_at is null into v_waited;
  -- Its followers continue without it.
  v_promoted := promote_follower(p_id);
  if v_counted then
    perform from account_meter m where m.account_id = c.account_id for update;
    update account_meter m set pending = m.pending - 1 where m.account_id = c.account_id and c.status = 'pending';
    update usage u set reserved = u.reserved - 1, settled = u.settled + (c.status = 'processing')::integer
     where u.account_id = c.account_id and u.period = c.period and v_promoted is null;
    update lane_meter l
       set admitted = l.admitted - (v_waited is not true)::integer, waiting = l.waiting - (v_waited is true)::integer,
           processing = l.processing - (c.status = 'processing')::integer
     where l.account_id = c.account_id and l.pool = c.pool and l.lane = c.lane;
    insert into usage_day as d (account_id, day, outcome, captures)
    select c.account_id, (c.created_at at time zone 'utc')::date, 'deleted', 1
     where c.status = 'processing' and v_promoted is null
        on conflict (account_id, day, outcome) do update set captures = d.captures + 1;
  end if;
  if not v_ended then
    update batch b set processing = b.processing - (c.status = 'processing')::integer, failed = b.failed + 1
     where b.id = c.batch_id;
    -- Queues nothing for the capture, which has not ended, but it may have been the last of its batch.
    perform queue_deliveries(array[c]);
  end if;

  perform uncount_ended(array[c]);
  perform release_objects(array[c]);
  delete from idempotency_key where capture_id = p_id;
  delete from webhook_delivery where capture_id = p_id;
  delete from capture where id = p_id;

  insert into deletion (capture_id, step, account_id, pool, lane, accepted_at, due_at)
  select c.id, s.step, c.account_id, c.pool, c.lane, c.created_at, v_now + s.after
    from (values (0, interval '0'), (1, interval '15 seconds'),
                 (2, c.budget_ms * interval '1 millisecond' + interval '1 minute')) as s (step, after)
   where s.step = 0 or not v_ended or c.unended_starts > 0
      -- It has just failed: see `withdraw` in change-captures.ts.
      on conflict (capture_id, step) do update set due_at = excluded.due_at;
  return true;
end
$$;
