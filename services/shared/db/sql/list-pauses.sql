-- The pauses in force. `drained`: nothing runs, by the meters of the pool's open lanes. They contain all that was reported before
-- applied_at, and follow a worker that took a capture just before the pause within a second, hence the five.
select p.pool, iso_time(p.since) as since, p.paused_by as by, p.reason, iso_time(p.until) as until,
    case
      when p.applied_at is null then 'pausing'
      when p.applied_at > now() - interval '5 seconds' or exists (
        select from lane_meter l where l.pool = p.pool and l.stage > 0 and l.processing > 0) then 'draining'
      else 'drained'
    end as state
  from pool_pause p where p.until is null or p.until > now()
  order by p.pool
