-- Which partition of 0036 holds a capture: 'open' until it ends, then 'ended'; null if it was accepted before. The check, which 0036
-- validates while requests go on, spares the scan under a lock.
do $$
begin
  for tries in 1 .. 300 loop
    begin
      -- Requests wait behind whoever waits for this lock.
      set local lock_timeout = '100ms';
      alter table capture add column part text, add constraint capture_part_none check (part is null) not valid;
      exit;
    exception when lock_not_available then
      if tries = 300 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
end
$$;
