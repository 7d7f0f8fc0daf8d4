delete from webhook_delivery where id in (
    select id from webhook_delivery where created_at < now() - $1 * interval '1 day' and state <> 'pending'
       and (upload_destination_id is null or not exists (select from capture c where c.id = capture_id))
     order by created_at limit $2 for update skip locked)
  returning id
