-- As remove-ended.sql, for batches that were accepted before p_before: those without captures are removed, the others
-- are checked again a day later.

create or replace function remove_empty_batches(
  p_before timestamptz, p_limit integer, out looked_at integer, out removed integer
) language plpgsql as $$
declare
  v_until timestamptz;
  v_late uuid[];
  v_page uuid[];
begin
  select done_until into v_until from cleanup_cursor where kind = 'batch' for update skip locked;
  if not found then
    looked_at := 0;
    removed := 0;
    return;
  end if;
  v_late := array(select l.id from late_cleanup l where l.kind = 'batch' and l.due_at <= now() order by l.due_at limit p_limit);
  select array_agg(p.id), coalesce(max(p.created_at), v_until) into v_page, v_until
    from (select b.id, b.created_at from batch b where b.created_at > v_until and b.created_at < p_before
           order by b.created_at fetch first p_limit rows with ties) as p;
  v_page := v_late || v_page;

  delete from batch b where b.id = any (v_page) and not exists (select from capture c where c.batch_id = b.id);
  get diagnostics removed = row_count;

  delete from late_cleanup where kind = 'batch' and id = any (v_late);
  insert into late_cleanup (kind, id, due_at)
  select 'batch', b.id, now() + interval '1 day' from batch b where b.id = any (v_page);
  update cleanup_cursor set done_until = v_until where kind = 'batch';
  looked_at := coalesce(cardinality(v_page), 0);
end
$$;
