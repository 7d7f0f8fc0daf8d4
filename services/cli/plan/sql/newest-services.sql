select (timings->>'total')::float8 as ms from capture
 where status = 'completed' and not cached and pool = 'standard' and completed_at > now() - interval '30 days'
   and json_typeof(timings->'total') = 'number'
 order by completed_at desc limit $1
