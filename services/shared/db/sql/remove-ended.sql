-- Checks the next p_limit captures that ended before p_before, oldest end first, and at most as many due ones of
-- `late_cleanup`. Removes, with all that belongs to them, those whose images have expired and that have no pending
-- delivery. The others, and those that are locked, are put into `late_cleanup` and not checked until they are due, so
-- that each call costs the same, however many are kept. Never waits: while another call is running it does nothing.
-- Lock order: see check-request.sql.

drop function if exists remove_ended(timestamptz, integer);
create function remove_ended(p_before timestamptz, p_limit integer, out looked_at integer, out removed integer)
language plpgsql as $$
declare
  v_until timestamptz;
  v_late uuid[];
  v_page uuid[];
  v_captures capture[];
  v_ids uuid[];
begin
  select done_until into v_until from cleanup_cursor where kind = 'capture' for update skip locked;
  if not found then
    looked_at := 0;
    removed := 0;
    return;
  end if;
  v_late := array(select l.id from late_cleanup l where l.kind = 'capture' and l.due_at <= now() order by l.due_at limit p_limit);
  select array_agg(p.id), coalesce(max(p.completed_at), v_until) into v_page, v_until
    from (select c.id, c.completed_at from capture c where c.completed_at > v_until and c.completed_at < p_before
           order by c.completed_at fetch first p_limit rows with ties) as p;
  v_page := v_late || v_page;
  v_captures := array(
    select c from capture c
     where c.id = any (v_page) and c.completed_at < p_before and (c.expires_at is null or c.expires_at <= now())
       and not exists (select from webhook_delivery d where d.capture_id = c.id and d.state = 'pending')
     order by c.id for update skip locked);
  v_ids := array(select c.id from unnest(v_captures) as c);

  perform uncount_ended(v_captures);
  perform release_objects(v_captures);
  delete from idempotency_key where capture_id = any (v_ids);
  delete from webhook_delivery where capture_id = any (v_ids);
  delete from capture where id = any (v_ids);

  delete from late_cleanup where kind = 'capture' and id = any (v_late);
  insert into late_cleanup (kind, id, due_at)
  select 'capture', c.id, greatest(c.expires_at, now() + interval '10 minutes') from capture c where c.id = any (v_page);
  update cleanup_cursor set done_until = v_until where kind = 'capture';
  looked_at := coalesce(cardinality(v_page), 0);
  removed := cardinality(v_ids);
end
$$;
