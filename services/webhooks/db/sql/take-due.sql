select t.id, t.takes as take, t.account_id as "accountId", t.capture_id as "captureId", t.webhook_id as "webhookId", t.url, t.event,
       t.subject as "eventData", t.body, iso_time(t.sent_at) as "sentAt",
       iso_time(t.leased_until - $4::integer * interval '1 millisecond') as "takenAt", t.failures, s.sealed as "sealedSecret",
       case when s.previous_until > now() then s.previous_sealed end as "sealedPreviousSecret",
       (select c.traceparent from capture c where c.id = t.capture_id) as traceparent
  from take_deliveries($1, $2, $3, $4::integer) t left join webhook_secret s on s.webhook_id = t.webhook_id
