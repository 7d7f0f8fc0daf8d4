with queued as (
  insert into webhook_delivery (id, account_id, upload_destination_id, url, host, event, subject, next_attempt_at, created_at)
  select $3::uuid, d.account_id, d.id, d.url, receiver_of(d.url), 'upload.test',
         json_build_object('bucket', d.bucket, 'prefix', d.prefix), clock_timestamp(), clock_timestamp()
    from upload_destination d cross join refuse_while_moving(d.account_id) where d.id = $1 and d.account_id = $2
  returning id, account_id, host),
announced as (
  insert into webhook_arrival (account_id, host, due_at) select account_id, host, clock_timestamp() from queued)
select id from queued
