-- All captures of before become one partition of 0036. A bound of their ids, validated there while requests go on, spares the scan
-- under a lock. It lies a month ahead, so that services of before accept meanwhile, however long an upgrade is interrupted.
do $$
declare
  v_end constant timestamptz := date_trunc('day', now(), 'utc')
    + case when exists (select from capture) then interval '30 days' else interval '1 day' end;
begin
  for tries in 1 .. 300 loop
    begin
      -- Requests wait behind whoever waits for this lock.
      set local lock_timeout = '100ms';
      execute format('alter table capture add constraint capture_id_bound check (id < %L) not valid',
        (lpad(to_hex((extract(epoch from v_end) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid);
      exit;
    exception when lock_not_available then
      if tries = 300 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
end
$$;
