with expired as (
  delete from stored_object where key in (
    select key from stored_object where expires_at <= now() order by expires_at limit $1 for update skip locked)
  returning key)
insert into object_removal (key, not_before) select key, now() from expired on conflict do nothing returning key
