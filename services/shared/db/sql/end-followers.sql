-- Ends the followers of captures that have just ended, with the same object or error and at no charge. Returns them.
-- For change_captures, which has locked the accounts' meters: a follower was either accepted before and is found here, or
-- is accepted later and finds the ended capture. Most rows are locked already; the others were accepted in between.

create or replace function end_followers(p_leaders capture[]) returns capture[]
language plpgsql as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_ended capture[];
begin
  with ended as (
    update capture f
       set status = k.status,
           part = 'ended',
           started_at = case when k.started_at is not null then greatest(k.started_at, f.created_at) end,
           completed_at = v_now,
           expires_at = case when k.status = 'completed' then v_now + f.retention_seconds * interval '1 second' end,
           cached = k.status = 'completed',
           sealed = null, follows = null, cache_key = null, cache_seconds = null,
           object_key = k.object_key, file_size = k.file_size, sha256 = k.sha256, mime_type = k.mime_type,
           width = k.width, height = k.height, processing_time_ms = k.processing_time_ms,
           target_status = k.target_status, sealed_result = k.sealed_result, timings = k.timings,
           files = k.files, error_code = k.error_code, error_message = k.error_message
      from unnest(p_leaders) as k
     where f.follows = k.id and f.part = 'open'
    returning f as follower
  )
  select coalesce(array_agg(follower), '{}') into v_ended from ended;
  if cardinality(v_ended) = 0 then
    return v_ended;
  end if;

  update batch b set completed = b.completed + d.completed, failed = b.failed + d.failed
    from (select f.batch_id, count(*) filter (where f.status = 'completed') as completed,
                 count(*) filter (where f.status = 'failed') as failed
            from unnest(v_ended) as f where f.batch_id is not null group by 1) as d
   where b.id = d.batch_id;
  update stored_object o set expires_at = greatest(o.expires_at, d.expires_at)
    from (select f.object_key, max(f.expires_at) as expires_at from unnest(v_ended) as f group by 1) as d
   where o.key = d.object_key;
  return v_ended;
end
$$;
