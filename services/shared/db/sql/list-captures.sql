-- Pages and counts of an account's captures, by plans that are made once per session: to plan for all partitions takes longer than to
-- read a page. There are functions for each status, and for any: their plans leave out the partitions whose captures have another one.
-- Positions are (created_at, id).
do $do$
declare
  v_status text;
begin
  foreach v_status in array '{any,pending,processing,completed,failed}'::text[] loop
    execute replace(replace($functions$
      -- The captures between two positions, both exclusive: the first p_limit from one end, behind the p_skip newest. Skipped rows are
      -- not read, only index entries. Returned in any order.
      create or replace function list_STATUS(
        p_account_id uuid, p_after_at timestamptz, p_after_id uuid, p_before_at timestamptz, p_before_id uuid,
        p_oldest_first boolean, p_skip integer, p_limit integer
      ) returns setof capture
      language plpgsql stable set plan_cache_mode = force_generic_plan as $$
      begin
        if p_oldest_first then
          return query select c.* from capture c
            where c.account_id = p_account_id and CONDITION
              and (c.created_at, c.id) > (p_after_at, p_after_id) and (c.created_at, c.id) < (p_before_at, p_before_id)
            order by c.created_at, c.id limit p_limit;
          return;
        end if;
        if p_skip > 0 then
          select c.created_at, c.id into p_before_at, p_before_id from capture c
           where c.account_id = p_account_id and CONDITION
             and (c.created_at, c.id) > (p_after_at, p_after_id) and (c.created_at, c.id) < (p_before_at, p_before_id)
           order by c.created_at desc, c.id desc limit 1 offset p_skip - 1;
        end if;
        return query select c.* from capture c
          where c.account_id = p_account_id and CONDITION
            and (c.created_at, c.id) > (p_after_at, p_after_id) and (c.created_at, c.id) < (p_before_at, p_before_id)
          order by c.created_at desc, c.id desc limit p_limit;
      end
      $$;

      -- The number of captures between two positions, both inclusive; p_most at most.
      create or replace function count_STATUS(
        p_account_id uuid, p_from_at timestamptz, p_from_id uuid, p_to_at timestamptz, p_to_id uuid, p_most integer
      ) returns integer
      language plpgsql stable set plan_cache_mode = force_generic_plan as $$
      begin
        return (select count(*) from (
          select from capture c
           where c.account_id = p_account_id and CONDITION
             and (c.created_at, c.id) >= (p_from_at, p_from_id) and (c.created_at, c.id) <= (p_to_at, p_to_id)
           limit p_most) as matching);
      end
      $$;
    $functions$, 'STATUS', v_status), 'CONDITION', case v_status when 'any' then 'true' else format('c.status = %L', v_status) end);
  end loop;
end
$do$;
