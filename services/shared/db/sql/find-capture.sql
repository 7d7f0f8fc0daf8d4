-- The capture with an id, by plans that are made once per session: to plan for the partitions takes longer than to read a row. The
-- plans know no id, but leave out all partitions but its own as they start. Each of the two reads the fewer tables.
create or replace function find_capture(p_id uuid) returns setof capture
language plpgsql stable rows 1 set plan_cache_mode = force_generic_plan as $$
begin
  return query select c.* from capture c where c.id = p_id and c.part = 'open';
  if not found then
    return query select c.* from capture c where c.id = p_id and c.part = 'ended';
  end if;
end
$$;
