delete from webhook_delivery where id in (
    select id from webhook_delivery where created_at < now() - $1 * interval '1 day' and state <> 'pending'
       -- The condition of the index by age; uploads of captures: remove-uploads.sql.
       and (upload_destination_id is null or capture_id is null)
     order by created_at limit $2 for update skip locked)
  returning id
