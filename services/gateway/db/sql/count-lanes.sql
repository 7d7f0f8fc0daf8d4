-- Captures that wait and run, by pool and lane; empty lanes are missing.
select pool, lane, sum(admitted + waiting - processing)::integer as pending, sum(processing)::integer as processing
  from lane_meter where stage > 0 group by pool, lane order by pool, lane
