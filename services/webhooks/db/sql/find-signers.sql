-- A statement of its own: `take_deliveries` waits for other senders and returns rows that were committed meanwhile, whose
-- capture and owner the snapshot of its caller may not contain.
select d.id, coalesce(s.sealed, u.sealed_secret) as "sealedSecret",
       case when s.previous_until > now() then s.previous_sealed end as "sealedPreviousSecret",
       c.traceparent, w.url <> d.url or d.queued_at <= r.deactivated_at as "isBehind",
       case when u.id is not null then json_build_object('accessKeyId', u.access_key_id, 'region', u.region) end as destination
  from webhook_delivery d
  left join webhook w on w.id = d.webhook_id
  left join receiver_change r on r.id = d.webhook_id
  left join webhook_secret s on s.webhook_id = d.webhook_id
  left join upload_destination u on u.id = d.upload_destination_id
  left join capture c on c.id = d.capture_id
 where d.id = any ($1::uuid[])
