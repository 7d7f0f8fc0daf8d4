-- What happened to capture $1 of any account, without what it shows.
select c.id, c.account_id, a.name as account_name, c.status, c.pool, c.lane, c.attempts, c.cached, c.batch_id,
       iso_time(c.created_at) as created_at, iso_time(c.started_at) as started_at, iso_time(c.completed_at) as completed_at,
       iso_time(c.expires_at) as expires_at, c.file_size::float8 as file_size, c.mime_type, c.timings,
       c.error_code, c.error_message, c.traceparent
  from capture c join account a on a.id = c.account_id where c.id = $1
