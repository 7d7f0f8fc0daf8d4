-- Detaches captures, whose rows the caller has locked and is about to delete, from their objects. An object that
-- other captures share is assigned to the one that expires last; any other object is marked for removal.
--
-- Sharing locks the object's row before reading it, as this does, so that no removed object becomes shared.

create or replace function release_objects(p_captures capture[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_ids constant uuid[] := array(select c.id from unnest(p_captures) as c);
  v_keys constant text[] := array(
    select s.key from stored_object s
     where s.key in (select c.object_key from unnest(p_captures) as c) order by s.key for update);
begin
  if cardinality(v_keys) = 0 then
    return;
  end if;
  update stored_object s set capture_id = o.id, expires_at = o.expires_at
    from (
      select distinct on (c.object_key) c.object_key, c.id, c.expires_at from capture c
       where c.object_key = any (v_keys) and c.id <> all (v_ids) and c.expires_at is not null
       order by c.object_key, c.expires_at desc
    ) as o
   where s.key = o.object_key;

  with gone as (
    delete from stored_object s
     where s.key = any (v_keys) and not exists (select from capture c where c.object_key = s.key and c.id <> all (v_ids))
    returning s.key
  )
  insert into object_removal (key, not_before) select key, clock_timestamp() from gone on conflict do nothing;
end
$$;
