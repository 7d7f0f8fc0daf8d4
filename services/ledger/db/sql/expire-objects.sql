-- An object that a pending upload still reads is looked at again after $2 seconds instead, so that a batch of them does not
-- hide others.
with due as (
  select key, exists (
           select from capture c join webhook_delivery d on d.capture_id = c.id
            where c.object_key = due.key and d.state = 'pending' and d.upload_destination_id is not null) as needed
    from (select key from stored_object where expires_at <= now() order by expires_at limit $1 for update skip locked) as due
), postponed as (
  update stored_object set expires_at = now() + $2 * interval '1 second' where key in (select key from due where needed)
), expired as (
  delete from stored_object where key in (select key from due where not needed) returning key
), removed as (
  insert into object_removal (key, not_before) select key, now() from expired on conflict do nothing
)
select key from due
