select t.id, t.takes as take, t.account_id as "accountId", t.capture_id as "captureId", t.webhook_id as "webhookId", t.url, t.event,
       t.subject as "eventData", t.body, iso_time(t.sent_at) as "sentAt",
       iso_time(t.leased_until - $4::integer * interval '1 millisecond') as "takenAt", t.failures,
       t.upload_destination_id as "destinationId"
  from take_deliveries($1, $2, $3, $4::integer) t
