with queued as (
  insert into webhook_delivery (id, account_id, webhook_id, url, host, event, subject, next_attempt_at, created_at)
  select $3::uuid, w.account_id, w.id, w.url, receiver_of(w.url), 'webhook.test',
         json_build_object('id', $3::uuid, 'webhook_id', w.id), clock_timestamp(), clock_timestamp()
    from webhook w where w.id = $1 and w.account_id = $2
  returning id, account_id, host),
announced as (
  insert into webhook_arrival (account_id, host, due_at) select account_id, host, clock_timestamp() from queued)
select id from queued
