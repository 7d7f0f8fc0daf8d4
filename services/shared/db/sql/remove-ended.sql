-- Removes up to p_limit records that ended before p_before, whose images are over too and of which nothing is still to be
-- delivered, the oldest first, with what belongs to them. Answers how many. Rows that somebody is at are left for the next time, so it waits for none of them.
-- Lock order: see check-request.sql.

create or replace function remove_ended(p_before timestamptz, p_limit integer) returns integer
language plpgsql as $$
declare
  v_ids constant uuid[] := array(
    select c.id from capture c
     where c.completed_at < p_before and (c.expires_at is null or c.expires_at <= now())
        and not exists (select from webhook_delivery d where d.capture_id = c.id and d.state = 'pending')
     order by c.completed_at limit p_limit for update skip locked);
begin
  perform uncount_ended(v_ids);
  perform release_objects(v_ids);
  delete from idempotency_key where capture_id = any (v_ids);
  delete from webhook_delivery where capture_id = any (v_ids);
  delete from capture where id = any (v_ids);
  return cardinality(v_ids);
end
$$;
