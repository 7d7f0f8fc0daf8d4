delete from console_session where id in (
    select id from console_session where idle_expires_at <= now() order by idle_expires_at limit $1 for update skip locked)
  returning id
